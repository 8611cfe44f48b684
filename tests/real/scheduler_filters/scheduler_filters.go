// The kube-scheduler's filter plugins, asked one cluster at a time: a line of JSON in, a line of JSON out.
//
// A line holds nodes, namespaces, bound pods and their storage as the API prints them, and questions, each asked of the
// cluster that the questions before it left. The plugins run in the scheduler's own framework over its own snapshot; nothing here
// decides by itself. It must not know Ebb, which is judged by it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clientcache "k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
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
	names.VolumeBinding,
	names.VolumeZone,
	names.VolumeRestrictions,
	names.NodeVolumeLimits,
}

// question: take the pod off its node if it has one, say which nodes refuse it, and bind it if a node is named.
// Nodes in `cordon` are cordoned before, with `taints`; those in `gone` leave with all that is on them. `claims` stand
// from now on in place of those of the same name.
type question struct {
	Cordon []string                    `json:"cordon"`
	Taints []v1.Taint                  `json:"taints"`
	Gone   []string                    `json:"gone"`
	Pod    *v1.Pod                     `json:"pod"`
	Bind   string                      `json:"bind"`
	Claims []*v1.PersistentVolumeClaim `json:"claims"`
}

type cluster struct {
	Nodes       []*v1.Node                    `json:"nodes"`
	Namespaces  []*v1.Namespace               `json:"namespaces"`
	Pods        []*v1.Pod                     `json:"pods"`
	Claims      []*v1.PersistentVolumeClaim   `json:"claims"`
	Volumes     []*v1.PersistentVolume        `json:"volumes"`
	Classes     []*storagev1.StorageClass     `json:"classes"`
	CSINodes    []*storagev1.CSINode          `json:"csi_nodes"`
	CSIDrivers  []*storagev1.CSIDriver        `json:"csi_drivers"`
	Attachments []*storagev1.VolumeAttachment `json:"attachments"`
	Questions   []question                    `json:"questions"`
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
	// Nothing is ever asked of this address: the informers are filled by hand and not started.
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://127.0.0.1:1"})
	factory := informers.NewSharedInformerFactory(client, 0)
	lister := &current{}
	judges := frameworks(ctx, client, factory, lister)
	given.fill(factory)
	answers := make([]refusals, 0, len(given.Questions))
	for _, asked := range given.Questions {
		given.apply(asked)
		put(factory.Core().V1().PersistentVolumeClaims().Informer(), asked.Claims)
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

func (c *cluster) fill(factory informers.SharedInformerFactory) {
	core, storage := factory.Core().V1(), factory.Storage().V1()
	put(core.Namespaces().Informer(), c.Namespaces)
	put(core.PersistentVolumeClaims().Informer(), c.Claims)
	put(core.PersistentVolumes().Informer(), c.Volumes)
	put(storage.StorageClasses().Informer(), c.Classes)
	put(storage.CSINodes().Informer(), c.CSINodes)
	put(storage.CSIDrivers().Informer(), c.CSIDrivers)
	put(storage.VolumeAttachments().Informer(), c.Attachments)
}

func put[T any](informer clientcache.SharedIndexInformer, objects []T) {
	for _, each := range objects {
		must(informer.GetIndexer().Add(each))
	}
}

func frameworks(
	ctx context.Context, client kubernetes.Interface, factory informers.SharedInformerFactory, lister fwk.SharedLister,
) map[string]framework.Framework {
	csi := nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())
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
			runtime.WithClientSet(client), runtime.WithInformerFactory(factory), runtime.WithSnapshotSharedLister(lister),
			runtime.WithSharedCSIManager(csi))
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
