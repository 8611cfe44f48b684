"""What a command reads: options, files, dumps and clusters, prices, profiles."""
