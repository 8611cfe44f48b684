// The kube-scheduler's filter plugins, asked one cluster at a time: a line of JSON in, a line of JSON out.
//
// A line holds nodes, namespaces and bound pods as the API prints them, and questions, each asked of the cluster that
// the questions before it left. The plugins run in the scheduler's own framework over its own snapshot; nothing here
// decides by itself. It must not know Ebb, which is judged by it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// Each runs in a framework of its own: the first to refuse a node would hide the others.
var filters = []string{
	names.NodeUnschedulable,
	names.NodeName,
	names.TaintToleration,
	names.NodeAffinity,
	names.NodePorts,
	names.NodeResourcesFit,
	names.PodTopologySpread,
	names.InterPodAffinity,
}

// question: take the pod off its node if it has one, say which nodes refuse it, and bind it if a node is named.
// Nodes in `cordon` are cordoned before, with `taints`; those in `gone` leave with all that is on them.
type question struct {
	Cordon []string   `json:"cordon"`
	Taints []v1.Taint `json:"taints"`
	Gone   []string   `json:"gone"`
	Pod    *v1.Pod    `json:"pod"`
	Bind   string     `json:"bind"`
}

type cluster struct {
	Nodes      []*v1.Node      `json:"nodes"`
	Namespaces []*v1.Namespace `json:"namespaces"`
	Pods       []*v1.Pod       `json:"pods"`
	Questions  []question      `json:"questions"`
}

// refusals holds, by node and plugin, the plugin's own words; a node that is absent takes the pod.
type refusals map[string]map[string]string

// current lets plugins, which keep the lister they were made with, see the snapshot of the moment.
type current struct{ fwk.SharedLister }

func main() {
	metrics.Register()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for in.More() {
		var given cluster
		must(in.Decode(&given))
		must(out.Encode(answer(ctx, &given)))
	}
}

func answer(ctx context.Context, given *cluster) []refusals {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lister := &current{}
	judges := frameworks(ctx, given.Namespaces, lister)
	answers := make([]refusals, 0, len(given.Questions))
	for _, asked := range given.Questions {
		given.apply(asked)
		lister.SharedLister = cache.NewSnapshot(given.Pods, given.Nodes)
		found := refusals{}
		for name, judge := range judges {
			refuse(ctx, judge, name, asked.Pod, found)
		}
		answers = append(answers, found)
		if asked.Bind != "" {
			bound := asked.Pod.DeepCopy()
			bound.Spec.NodeName = asked.Bind
			given.Pods = append(given.Pods, bound)
		}
	}
	return answers
}

func (c *cluster) apply(asked question) {
	cordon, gone := sets.New(asked.Cordon...), sets.New(asked.Gone...)
	nodes := []*v1.Node{}
	for _, node := range c.Nodes {
		if cordon.Has(node.Name) && !node.Spec.Unschedulable {
			node.Spec.Unschedulable = true
			node.Spec.Taints = append(node.Spec.Taints, asked.Taints...)
		}
		if !gone.Has(node.Name) {
			nodes = append(nodes, node)
		}
	}
	pods := []*v1.Pod{}
	for _, pod := range c.Pods {
		itself := pod.Namespace == asked.Pod.Namespace && pod.Name == asked.Pod.Name
		if !itself && !gone.Has(pod.Spec.NodeName) {
			pods = append(pods, pod)
		}
	}
	c.Nodes, c.Pods = nodes, pods
}

func refuse(ctx context.Context, judge framework.Framework, name string, pod *v1.Pod, found refusals) {
	state := framework.NewCycleState()
	result, status, _ := judge.RunPreFilterPlugins(ctx, state, pod)
	infos, err := judge.SnapshotSharedLister().NodeInfos().List()
	must(err)
	for _, info := range infos {
		said := status
		if said.IsSuccess() && !result.AllNodes() && !result.NodeNames.Has(info.Node().Name) {
			said = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "not among the nodes that PreFilter named")
		} else if said.IsSuccess() {
			said = judge.RunFilterPlugins(ctx, state, pod, info)
		}
		if said.Code() == fwk.Error {
			must(fmt.Errorf("%s: %w", name, said.AsError()))
		}
		if !said.IsSuccess() {
			if found[info.Node().Name] == nil {
				found[info.Node().Name] = map[string]string{}
			}
			found[info.Node().Name][name] = said.Message()
		}
	}
}

func frameworks(ctx context.Context, namespaces []*v1.Namespace, lister fwk.SharedLister) map[string]framework.Framework {
	// Nothing is ever asked of this address: the informers are filled by hand and not started.
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://127.0.0.1:1"})
	factory := informers.NewSharedInformerFactory(client, 0)
	for _, each := range namespaces {
		must(factory.Core().V1().Namespaces().Informer().GetIndexer().Add(each))
	}
	defaults, err := latest.Default()
	must(err)
	found := map[string]framework.Framework{}
	for _, name := range filters {
		only := config.PluginSet{Enabled: []config.Plugin{{Name: name}}}
		profile := &config.KubeSchedulerProfile{
			SchedulerName: v1.DefaultSchedulerName,
			PluginConfig:  defaults.Profiles[0].PluginConfig,
			Plugins: &config.Plugins{
				QueueSort: config.PluginSet{Enabled: []config.Plugin{{Name: names.PrioritySort}}},
				Filter:    only,
				Bind:      config.PluginSet{Enabled: []config.Plugin{{Name: names.DefaultBinder}}},
			},
		}
		if name != names.NodeUnschedulable && name != names.NodeName && name != names.TaintToleration {
			profile.Plugins.PreFilter = only
		}
		judge, err := runtime.NewFramework(ctx, plugins.NewInTreeRegistry(), profile,
			runtime.WithClientSet(client), runtime.WithInformerFactory(factory), runtime.WithSnapshotSharedLister(lister))
		must(err)
		found[name] = judge
	}
	return found
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
