package scripts

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// parse reads a file of YAML.
func parse(t *testing.T, path string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, path)), into); err != nil {
		t.Fatalf("parse %s: %v", path, err)
	}
}

// pinned is an action of GitHub's own by its version, or anybody's by its commit.
var pinned = regexp.MustCompile(`^actions/[a-z-]+@v[0-9]+(\.[0-9]+)*$|@[0-9a-f]{40}$`)

// A step of a workflow.
type step struct {
	Uses, Run string
	With      map[string]string
}

func TestTheWorkflowRunsCIOnBothProcessorsAndDoesNothingElse(t *testing.T) {
	var workflow struct {
		On          map[string]any
		Permissions map[string]string
		Jobs        map[string]struct {
			Strategy    struct{ Matrix map[string][]string }
			RunsOn      string `yaml:"runs-on"`
			Permissions map[string]string
			Steps       []step
		}
	}
	parse(t, ".github/workflows/ci.yml", &workflow)
	if len(workflow.On) != 2 || len(workflow.Jobs) != 1 {
		t.Errorf("on %v, %d jobs", workflow.On, len(workflow.Jobs))
	}
	if p := workflow.Permissions; len(p) != 1 || p["contents"] != "read" {
		t.Errorf("the token may %v", p)
	}
	job := workflow.Jobs["run"]
	machines := job.Strategy.Matrix["machine"]
	if want := []string{"ubuntu-24.04", "ubuntu-24.04-arm"}; !slices.Equal(machines, want) ||
		job.RunsOn != "${{ matrix.machine }}" {
		t.Errorf("runs on %q of %q", job.RunsOn, machines)
	}
	if job.Permissions != nil {
		t.Errorf("the job may %v", job.Permissions)
	}
	var runs []string
	for _, s := range job.Steps {
		if s.Run != "" {
			runs = append(runs, s.Run)
		}
		if s.Uses != "" && !pinned.MatchString(s.Uses) {
			t.Errorf("%s is not pinned", s.Uses)
		}
		if strings.HasPrefix(s.Uses, "actions/setup-go@") &&
			(s.With["go-version-file"] != "go.mod" || s.With["go-version"] != "") {
			t.Errorf("Go is chosen by %v, not by go.mod", s.With)
		}
		if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
			t.Error("the token is left in the checkout")
		}
	}
	if !slices.Equal(runs, []string{".ci/run"}) {
		t.Errorf("runs %q", runs)
	}
	if info, err := os.Stat("../.ci/run"); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf(".ci/run cannot be run: %v", err)
	}
}

// What runs the tag's code may write nothing; what may write runs none of it.
func TestTheReleaseIsPublishedByWhoRunsNothingOfIt(t *testing.T) {
	var workflow struct {
		On struct {
			Push struct{ Tags, Branches []string }
		}
		Permissions map[string]string
		Jobs        map[string]struct {
			Needs       string
			Permissions map[string]string
			Steps       []step
		}
	}
	parse(t, ".github/workflows/release.yml", &workflow)
	if push := workflow.On.Push; len(push.Tags) != 1 || len(push.Branches) != 0 {
		t.Errorf("on %v", push)
	}
	if p := workflow.Permissions; len(p) != 1 || p["contents"] != "read" {
		t.Errorf("the token may %v", p)
	}
	ours := regexp.MustCompile(`\.ci/|scripts/|\bmake\b|go (run|build)`)
	var runs []string
	for name, job := range workflow.Jobs {
		checkedOut := false
		for _, s := range job.Steps {
			if s.Uses != "" && !pinned.MatchString(s.Uses) {
				t.Errorf("%s is not pinned", s.Uses)
			}
			checkedOut = checkedOut || strings.HasPrefix(s.Uses, "actions/checkout@")
			if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
				t.Error("the token is left in the checkout")
			}
			if ours.MatchString(s.Run) {
				runs = append(runs, s.Run)
				checkedOut = true
			}
		}
		if checkedOut && job.Permissions != nil {
			t.Errorf("the job %s runs the tag's code and may %v", name, job.Permissions)
		}
	}
	if want := []string{".ci/run", "make dist",
		`scripts/notes.sh "${GITHUB_REF_NAME#v}" >dist/NOTES.md`}; !slices.Equal(runs, want) {
		t.Errorf("runs %q", runs)
	}
	publish := workflow.Jobs["publish"]
	want := map[string]string{"contents": "write", "id-token": "write", "attestations": "write"}
	if publish.Needs != "make" || !maps.Equal(publish.Permissions, want) {
		t.Errorf("after %q it may %v", publish.Needs, publish.Permissions)
	}
	if !slices.ContainsFunc(publish.Steps,
		func(s step) bool { return strings.HasPrefix(s.Uses, "actions/attest-build-provenance@") }) {
		t.Error("nothing says where it was built")
	}
}

// A form is one that GitHub shows to whoever opens an issue.
type form struct {
	Name, Description string
	Body              []struct {
		Type, ID    string
		Attributes  struct{ Label, Description, Value string }
		Validations struct{ Required bool }
	}
}

func TestTheIssueFormsAskForWhatIsNeeded(t *testing.T) {
	for path, required := range map[string]bool{"bug.yml": true, "feature.yml": false} {
		var f form
		parse(t, ".github/ISSUE_TEMPLATE/"+path, &f)
		if f.Name == "" || f.Description == "" {
			t.Errorf("%s has no name or description", path)
		}
		asked := map[string]bool{}
		var text strings.Builder
		for _, field := range f.Body {
			if field.Type == "markdown" {
				continue
			}
			if field.ID == "" || field.Attributes.Label == "" || asked[field.ID] {
				t.Errorf("%s: a field has the name %q and the label %q", path, field.ID, field.Attributes.Label)
			}
			asked[field.ID] = true
			text.WriteString(field.Attributes.Description)
			if slices.Contains([]string{"version", "server", "output"}, field.ID) &&
				field.Validations.Required != required {
				t.Errorf("%s: is %s needed? %v", path, field.ID, !required)
			}
		}
		for _, what := range []string{"redlockrun --version", "redlockrun -vv"} {
			if !strings.Contains(text.String(), what) {
				t.Errorf("%s does not ask for %s", path, what)
			}
		}
		if !asked["version"] || !asked["server"] {
			t.Errorf("%s asks for %v", path, asked)
		}
	}
}

func TestVulnerabilitiesAreNotReportedByIssues(t *testing.T) {
	var config struct {
		Links []struct{ Name, URL, About string } `yaml:"contact_links"`
	}
	parse(t, ".github/ISSUE_TEMPLATE/config.yml", &config)
	if len(config.Links) != 1 || !strings.HasSuffix(config.Links[0].URL, "/SECURITY.md") ||
		config.Links[0].About == "" {
		t.Errorf("links: %v", config.Links)
	}
}
