"""The thin shell: servers, threads and real time around a world that knows none of them."""
