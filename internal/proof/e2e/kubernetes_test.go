//go:build linux

package e2e

import (
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// ttl is the default of --ttl.
const ttl = time.Minute

// A cronJob is what the tests need of the manifest.
type cronJob struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Spec       struct {
		Schedule    string
		JobTemplate struct{ Spec jobSpec } `yaml:"jobTemplate"`
	}
}

type jobSpec struct {
	BackoffLimit          int `yaml:"backoffLimit"`
	ActiveDeadlineSeconds int `yaml:"activeDeadlineSeconds"`
	PodFailurePolicy      struct {
		Rules []struct {
			Action      string
			OnExitCodes struct {
				ContainerName string `yaml:"containerName"`
				Operator      string
				Values        []int
			} `yaml:"onExitCodes"`
		}
	} `yaml:"podFailurePolicy"`
	Template struct {
		Spec struct {
			RestartPolicy string `yaml:"restartPolicy"`
			Containers    []container
		}
	}
}

type container struct {
	Name          string
	Command, Args []string
	Env           []struct {
		Name      string
		ValueFrom struct {
			FieldRef struct {
				FieldPath string `yaml:"fieldPath"`
			} `yaml:"fieldRef"`
			SecretKeyRef struct{ Name, Key string } `yaml:"secretKeyRef"`
		} `yaml:"valueFrom"`
	}
}

func readCronJob(t *testing.T) (job cronJob) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(block(t, "cronjob")), &job); err != nil {
		t.Fatal(err)
	}
	return job
}

// flag is the value of a flag in the container's command.
func (c container) flag(t *testing.T, name string) string {
	t.Helper()
	i := slices.Index(c.Command, name)
	if i < 0 {
		t.Fatalf("%q has no %s", c.Command, name)
	}
	return c.Command[i+1]
}

func (c container) number(t *testing.T, name string) int {
	t.Helper()
	n, err := strconv.Atoi(c.flag(t, name))
	if err != nil {
		t.Error(err)
	}
	return n
}

// words are the container's command as the kubelet starts it for the Job, with the variables that
// it is given: each $(NAME) is replaced by the variable.
func (s *site) words(c container, job string) (words []string, env map[string]string) {
	s.t.Helper()
	values := map[string]string{"metadata.labels['batch.kubernetes.io/job-name']": job}
	env = map[string]string{}
	for _, e := range c.Env {
		value, known := values[e.ValueFrom.FieldRef.FieldPath]
		if e.ValueFrom.SecretKeyRef.Key != "" {
			value, known = s.server.URL(), true
		}
		if !known {
			s.t.Errorf("nothing is known of the variable %+v", e)
		}
		env[e.Name] = value
	}
	env["REDLOCKRUN_PORT"] = "tcp://10.0.0.1:80" // Kubernetes does so for a Service of that name
	words = slices.Concat(c.Command, c.Args)
	for i, word := range words {
		words[i] = regexp.MustCompile(`\$\((\w+)\)`).ReplaceAllStringFunc(word, func(name string) string {
			return env[name[2:len(name)-1]]
		})
	}
	return words, env
}

// pod is the container for the Job, on this site: it is PID 1.
func (s *site) pod(c container, job string) *exec.Cmd {
	s.t.Helper()
	words, env := s.words(c, job)
	cmd := s.command(s.t.Context(), words...)
	for name, value := range env {
		cmd.Env = append(slices.Clone(cmd.Env), name+"="+value)
	}
	cmd.SysProcAttr = asInit()
	return cmd
}

func TestReadmeCronJobSaysWhatItsTextSays(t *testing.T) {
	job := readCronJob(t)
	spec := job.Spec.JobTemplate.Spec
	pod := spec.Template.Spec
	if job.APIVersion != "batch/v1" || job.Kind != "CronJob" || len(strings.Fields(job.Spec.Schedule)) != 5 ||
		pod.RestartPolicy != "Never" {
		t.Errorf("%+v", job)
	}
	c := pod.Containers[0]
	if tries := c.number(t, "--tries"); tries != spec.BackoffLimit+1 {
		t.Errorf("--tries %d, backoffLimit %d", tries, spec.BackoffLimit)
	}
	if wait := duration(t, c.flag(t, "--wait")); wait <= ttl {
		t.Errorf("--wait %v ends before the lease of a run that was killed", wait)
	}
	if slices.Contains(c.Command, "-E") {
		t.Error("a pod that ran nothing would end its Job well")
	}
	if spec.ActiveDeadlineSeconds == 0 {
		t.Error("failures that are ignored would be tried again for ever")
	}
	for _, rule := range spec.PodFailurePolicy.Rules {
		if on := rule.OnExitCodes; on.Operator != "In" || on.ContainerName != c.Name {
			t.Errorf("%+v", rule)
		}
	}
	if actions := spec.actions(); len(actions) != 3 || actions[69] != "Count" || actions[75] != "Ignore" ||
		actions[76] != "Count" {
		t.Errorf("%v", actions)
	}
}

// actions are what is done about the statuses that the failure policy names.
func (j jobSpec) actions() map[int]string {
	actions := map[int]string{}
	for _, rule := range j.PodFailurePolicy.Rules {
		for _, status := range rule.OnExitCodes.Values {
			actions[status] = rule.Action
		}
	}
	return actions
}

// Kubernetes 1.27 starts a pod at once after one whose failure is ignored. So a Redis that is
// down for minutes must count.
func TestReadmeCronJobWithoutRedisMakesFewPods(t *testing.T) {
	spec := readCronJob(t).Spec.JobTemplate.Spec
	s := newSite(t)
	s.env = append(s.env, "REDLOCKRUN_REDIS_TIMEOUT=0.2")
	s.provide("php", "#!/bin/sh\necho ran >>ran\n")
	s.server.Close()
	pods, failures := 0, 0
	for failures <= spec.BackoffLimit && pods < 10 {
		r := s.finish(s.pod(spec.Template.Spec.Containers[0], "tick"))
		if r.status != 69 {
			t.Fatal(r)
		}
		if pods++; spec.actions()[r.status] != "Ignore" {
			failures++
		}
	}
	if pods != spec.BackoffLimit+1 {
		t.Errorf("%d pods of one Job", pods)
	}
}

// The README shows the heart of the CronJob, and that is done once, too.
func TestReadmeContainerIsThatOfTheCronJob(t *testing.T) {
	var short container
	if err := yaml.Unmarshal([]byte(block(t, "container")), &short); err != nil {
		t.Fatal(err)
	}
	whole := readCronJob(t).Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	if !slices.Equal(short.Command, whole.Command) || !slices.Equal(short.Args, whole.Args) ||
		short.Env[0] != whole.Env[0] {
		t.Errorf("%+v, not %+v", short, whole)
	}
	s := newSite(t)
	s.provide("php", "#!/bin/sh\necho \"$*\" >>ran\n")
	for range 2 {
		if r := s.finish(s.pod(short, "cancel-orders-29405760")); r != (run{}) {
			t.Error(r)
		}
	}
	if ran := s.ran(); ran != "/srv/shop/cancel_orders.php\n" {
		t.Errorf("ran %q", ran)
	}
}

func TestReadmeCronJobIsDoneOnce(t *testing.T) {
	c := readCronJob(t).Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	s := newSite(t)
	s.provide("php", "#!/bin/sh\necho \"$PPID $*\" >>ran\n[ $(wc -l <ran) != 1 ]\n")
	for _, want := range []run{{status: 1}, {}, {}} {
		if r := s.finish(s.pod(c, "cancel-orders-29405760")); r != want {
			t.Errorf("%v, want %v", r, want)
		}
	}
	if r := s.finish(s.pod(c, "cancel-orders-29405765")); r != (run{}) {
		t.Errorf("the next tick: %v", r)
	}
	const once = "1 /srv/shop/cancel_orders.php\n"
	if ran := s.ran(); ran != once+once+once {
		t.Errorf("ran %q", ran)
	}
}

func TestReadmeCronJobRunsAgainAfterAKill(t *testing.T) {
	c := readCronJob(t).Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	s := newSite(t)
	s.env = append(s.env, "REDLOCKRUN_TTL=2")
	s.provide("php", "#!/bin/sh\necho ran >>ran\nexec cat\n")
	killed := s.pod(c, "tick")
	if _, err := killed.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	ended := s.begin(killed)
	s.until("EXISTS", "redlockrun:{cancel-orders}:slots")
	if err := killed.Process.Kill(); err != nil {
		t.Error(err)
	}
	if r := ended(); r.status != -1 {
		t.Error(r)
	}
	start := time.Now()
	if r := s.finish(s.pod(c, "tick")); r != (run{}) {
		t.Error(r)
	}
	if took := time.Since(start); took < time.Second {
		t.Errorf("the lock of the dead pod was waited for %v", took)
	}
}

func TestReadmeCronJobStartedTwiceRunsOnce(t *testing.T) {
	c := readCronJob(t).Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	s := newSite(t)
	s.provide("php", "#!/bin/sh\necho ran >>ran\nexec cat\n") // until its input ends
	first := s.pod(c, "tick")
	input, err := first.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	firstEnded := s.begin(first)
	s.until("EXISTS", "redlockrun:{cancel-orders}")
	secondEnded := s.begin(s.pod(c, "tick"))
	s.until("ZCARD", "redlockrun:{cancel-orders}:queue")
	input.Close()
	want(t, []run{firstEnded(), secondEnded()}, run{}, run{})
	if ran := s.ran(); ran != "ran\n" {
		t.Errorf("two pods ran %q", ran)
	}
}

// A pod of docs/containers.md, whose program comes by a volume.
type pod struct {
	Spec struct {
		SecurityContext struct {
			RunAsNonRoot bool `yaml:"runAsNonRoot"`
			RunAsUser    int  `yaml:"runAsUser"`
		} `yaml:"securityContext"`
		InitContainers []confined `yaml:"initContainers"`
		Containers     []confined
		Volumes        []struct {
			Name     string
			EmptyDir map[string]string `yaml:"emptyDir"`
		}
	}
}

// A confined container has no rights but those that it is given.
type confined struct {
	container       `yaml:",inline"`
	Image           string
	SecurityContext struct {
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct{ Drop []string }
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly"`
	} `yaml:"volumeMounts"`
}

func readPod(t *testing.T) (p pod) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(block(t, "initcontainer")), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRecipeOfTheInitContainerIsThatOfTheCronJob(t *testing.T) {
	p := readPod(t)
	if len(p.Spec.InitContainers) != 1 || len(p.Spec.Containers) != 1 || len(p.Spec.Volumes) != 1 ||
		!p.Spec.SecurityContext.RunAsNonRoot {
		t.Fatalf("%+v", p)
	}
	first, job := p.Spec.InitContainers[0], p.Spec.Containers[0]
	whole := readCronJob(t).Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	if job.Name != whole.Name || !slices.Equal(job.Args, whole.Args) || !slices.Equal(job.Env, whole.Env) ||
		!slices.Equal(job.Command[1:], whole.Command[1:]) || len(first.Command) != 0 {
		t.Errorf("%+v, not %+v", job, whole)
	}
	dir := first.VolumeMounts[0].MountPath
	if !slices.Equal(first.Args, []string{"copy-self", dir}) || job.Command[0] != dir+"/redlockrun" ||
		job.VolumeMounts[0].MountPath != dir {
		t.Errorf("the program is copied by %q, and started as %q", first.Args, job.Command[0])
	}
	for _, c := range []confined{first, job} {
		s := c.SecurityContext
		if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || !s.ReadOnlyRootFilesystem ||
			!slices.Equal(s.Capabilities.Drop, []string{"ALL"}) || c.VolumeMounts[0].Name != p.Spec.Volumes[0].Name {
			t.Errorf("%+v", c)
		}
	}
}

func TestRecipeClustersShareATick(t *testing.T) {
	var difference struct{ Containers []container }
	if err := yaml.Unmarshal([]byte(block(t, "clusters")), &difference); err != nil {
		t.Fatal(err)
	}
	spec := readCronJob(t).Spec.JobTemplate.Spec
	one, both := spec.Template.Spec.Containers[0], difference.Containers[0]
	if one.Name != both.Name || both.number(t, "--tries") != 2*(spec.BackoffLimit+1) {
		t.Errorf("%+v", both)
	}
	both.Args, both.Env = one.Args, one.Env
	s := newSite(t)
	s.provide("php", "#!/bin/sh\necho ran >>ran\nexit 3\n")
	for pod := range 2 * (spec.BackoffLimit + 1) { // of either cluster in turn
		if r := s.finish(s.pod(both, "tick")); r != (run{status: 3}) {
			t.Errorf("pod %d: %v", pod+1, r)
		}
	}
	s.forget()
	s.provide("php", "#!/bin/sh\necho ran >>ran\n")
	for range 2 {
		if r := s.finish(s.pod(both, "tick")); r != (run{}) {
			t.Error(r)
		}
	}
	if ran := s.ran(); ran != "ran\n" {
		t.Errorf("two clusters ran %q", ran)
	}
}
