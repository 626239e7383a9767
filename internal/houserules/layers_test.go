package houserules

// A layer is a group of packages with one purpose. It may import itself, the layers that it
// names, and the helpers. A layer names only layers that stand below it in the table.
type layer struct {
	name string
	// packages are folders; "x/..." is every folder below x that has no longer match.
	packages []string
	imports  []arrow
}

// An arrow allows imports of a layer, and says what for.
type arrow struct{ to, why string }

// layers are the layers of the product from top to bottom. The picture in CONTRIBUTING.md is
// made from this table: go test ./internal/houserules -update.
var layers = []layer{
	{"programs", []string{"cmd/...", "examples/...", "e2e/..."}, []arrow{
		{"library", "a program is Beam with photons"},
		{"photons", "cmd/beam has those that Beam ships"},
		{"questions", "examples show how photons are written"},
		{"events", "examples show how photons are written"},
	}},
	{"library", []string{"."}, []arrow{
		{"commands", "beam.Main runs them"},
		{"assembly", "beam.New starts an app"},
		{"MCP server", "a program adds its own tools and prompts"},
		{"upstreams", "Config names the servers that Beam uses"},
		{"store", "Config tunes it"},
		{"engine", "Config has its limits"},
		{"callers", "Config says who callers are"},
		{"events", "Config takes photons"},
	}},
	{"commands", []string{"internal/cli/...", "internal/dev", "internal/scaffold", "internal/testserver"}, []arrow{
		{"assembly", "serve and run start an app; others work on its data folder"},
		{"page", "serve takes the settings of sign-in"},
		{"terminal", "run shows a run and asks its questions"},
		{"MCP server", "stdio joins another process; test-server uses the transports"},
		{"upstreams", "flags name their files"},
		{"MCP messages", "run --json writes them; test-server answers them"},
		{"engine", "run and doctor talk to runs"},
		{"store", "migrate and check read it"},
		{"run states", "exit codes come from the table of outcomes"},
		{"log", "commands write entries as JSON"},
		{"callers", "flags name the files of users and issuers"},
		{"forms", "run prompts for the arguments of a photon"},
		{"questions", "run takes prepared answers"},
		{"events", "list shows photons"},
	}},
	{"assembly", []string{"internal/app", "internal/datafolder", "internal/metrics", "internal/tracing", "internal/webhook", "internal/backup", "internal/oldlog", "internal/replica"}, []arrow{
		{"page", "mounts it"},
		{"MCP server", "mounts it"},
		{"upstreams", "connects them, and counts their calls"},
		{"engine", "starts it, and listens to its runs"},
		{"store", "opens it, and repairs it"},
		{"run states", "rebuilds the rows of runs"},
		{"log", "reads logs for backups and migration"},
		{"callers", "reads the files that say who callers are"},
		{"questions", "counts questions"},
		{"events", "registers photons"},
	}},
	{"page", []string{"web/...", "internal/assets", "internal/signin", "internal/portability", "docs"}, []arrow{
		{"MCP server", "shows runs in chats; /mcp/request takes the responses of its clients"},
		{"event stream", "a run's page and its messages are streams"},
		{"upstreams", "lists them, and approves their changes"},
		{"catalogue", "says why a tool isn't offered"},
		{"MCP messages", "shows the messages of a run"},
		{"engine", "starts, follows, answers and cancels"},
		{"run states", "tells of a run's end"},
		{"log", "folds a log into a timeline"},
		{"callers", "signs people in, and asks who may answer"},
		{"forms", "renders questions as HTML forms"},
		{"questions", "shows them"},
		{"events", "shows them"},
	}},
	{"terminal", []string{"internal/term/..."}, []arrow{
		{"MCP messages", "words that it shares with them"},
		{"engine", "starts, follows, answers and cancels"},
		{"run states", "tells of a run's end"},
		{"log", "shows entries"},
		{"callers", "answers as the user of the terminal"},
		{"forms", "asks field by field"},
		{"questions", "asks them"},
		{"events", "shows them"},
	}},
	{"MCP server", []string{"internal/mcp/..."}, []arrow{
		{"event stream", "the transport streams responses"},
		{"catalogue", "lists what other servers offer"},
		{"MCP messages", "reads and writes them"},
		{"engine", "starts, follows, answers and cancels"},
		{"run states", "tells of a run's end"},
		{"log", "translates entries"},
		{"callers", "bounds what each has in use"},
		{"forms", "writes the schemas of questions"},
		{"questions", "sends them as elicitations"},
		{"events", "offers photons as tools"},
	}},
	{"event stream", []string{"sse/..."}, []arrow{
		{"MCP messages", "each event is one message"},
		{"log", "streams entries"},
		{"questions", "names the questions that are open"},
		{"events", "streams events"},
	}},
	{"upstreams", []string{"internal/upstream/..."}, []arrow{
		{"catalogue", "fills it with what the servers offer"},
		{"MCP client", "talks to the servers"},
		{"MCP messages", "relays requests and notifications"},
		{"callers", "audits calls"},
		{"questions", "an elicitation becomes a question"},
		{"events", "a tool becomes a photon"},
	}},
	{"catalogue", []string{"internal/mcp/catalogue"}, []arrow{
		{"MCP messages", "has tools, resources and prompts as they are listed"},
		{"events", "a tool becomes a photon"},
	}},
	{"MCP client", []string{"internal/mcp/client"}, []arrow{
		{"MCP messages", "reads and writes them"},
	}},
	{"MCP messages", []string{"internal/mcp/message", "internal/mcp/stdio"}, []arrow{
		{"run states", "a tool's result tells of the run's end"},
		{"log", "translates entries"},
		{"forms", "writes the schemas of questions"},
		{"questions", "translates them"},
		{"events", "translates them"},
	}},
	{"engine", []string{"internal/engine/...", "internal/runs", "internal/sampling", "internal/llm"}, []arrow{
		{"run states", "keeps the state of resident runs"},
		{"log", "appends to it, and follows it"},
		{"callers", "checks whose run it is, and bounds what each has in use"},
		{"questions", "checks answers"},
		{"events", "drives generators"},
	}},
	{"store", []string{"internal/store/..."}, []arrow{
		{"run states", "keeps the rows of runs"},
		{"log", "implements it"},
		{"callers", "rows name the audience of questions"},
		{"questions", "keeps the rows of questions"},
		{"events", "keeps events"},
	}},
	{"run states", []string{"internal/runlist", "internal/runstate", "internal/outcome"}, []arrow{
		{"log", "folds it"},
		{"callers", "a run has an owner, and a question an audience"},
		{"questions", "open questions are part of the state"},
		{"events", "a repeated step takes back its events"},
	}},
	{"log", []string{"internal/runlog/...", "internal/diskspace"}, []arrow{
		{"questions", "an entry carries a question or its answer"},
		{"events", "an entry carries an event"},
	}},
	{"callers", []string{"internal/callers", "internal/audience", "internal/audit", "internal/budget", "internal/oauth", "internal/trustedproxy", "internal/users"}, []arrow{
		{"questions", "a question says who may answer it"},
		{"events", "a photon sees its caller"},
	}},
	{"forms", []string{"internal/form"}, []arrow{
		{"questions", "a question's fields become a form"},
		{"events", "a photon's arguments become a form"},
	}},
	{"photons", []string{"generators/..."}, []arrow{
		{"questions", "they ask"},
		{"events", "they yield"},
	}},
	{"questions", []string{"ask/...", "internal/askdata", "internal/asking"}, []arrow{
		{"events", "a question is an event"},
	}},
	{"events", []string{"generators", "internal/call", "internal/driver", "internal/histogram", "internal/registry"}, nil},
}

// helpers have one purpose each, and import only each other. Every package may import them.
var helpers = []string{
	"internal/atomicfile", "internal/cleantext", "internal/clientsession", "internal/connect", "internal/controlsocket", "internal/datastar",
	"internal/humanize", "internal/links", "internal/programdigest", "internal/propertyorder", "internal/rawjson", "internal/recordedvalue", "internal/recording",
	"internal/rule", "internal/runaddress",
	"internal/runpause", "internal/schemalimits", "internal/secretwords", "internal/smallstate", "internal/toolresult", "internal/unifieddiff", "static",
}

// testPackages are imported by tests and by each other, and may import anything.
var testPackages = []string{
	"beamtest", "internal/apilist", "internal/houserules", "internal/llm/llmtest", "internal/mcp/client/clienttest", "internal/oauth/oauthtest",
	"internal/release/...", "internal/runlist/runlisttest", "internal/runlog/blob/blobtest", "internal/runlog/runlogtest", "internal/smallstate/smallstatetest",
	"internal/systemtest/...",
}

// An exception is an import against the table, and why it is still there. One that is gone must
// leave this list.
type exception struct{ from, to, why string }

var exceptions []exception

// A restriction keeps a library to the packages that it is for, or away from some.
type restriction struct {
	library string // an import path, with those below it
	only    []string
	never   []string
	why     string
}

var restrictions = []restriction{
	{library: "net/http", never: []string{"generators", "ask", "internal/runlog/...", "internal/runstate", "internal/engine/...", "internal/store", "web/internal/ui", "web/internal/timeline"},
		why: "events, runs and rendering know no transport"},
	{library: "github.com/mark3labs/mcp-go", never: []string{"generators/...", "ask", "internal/runlog/...", "internal/runstate", "internal/engine/...", "internal/store", "internal/term", "web/..."},
		why: "only what speaks MCP knows its types"},
	{library: "sync", never: []string{"internal/runstate"}, why: "the fold of a log has no mutex: entries in, state out"},
	{library: "os", never: []string{"internal/runstate", "web/internal/ui", "web/internal/timeline"}, why: "folds and rendering do no I/O"},
	{library: "github.com/ncruces/go-sqlite3", only: []string{"internal/store/sqlite"}, why: "one package knows the driver"},
	{library: "database/sql", only: []string{"internal/store/...", "examples/migrate"}, why: "one package knows the database"},
	{library: "github.com/a-h/templ", only: []string{"web/..."}, why: "only the page is HTML"},
	{library: "github.com/starfederation/datastar-go", only: []string{"web/internal/stream"}, why: "only the page is patched"},
	{library: "github.com/alecthomas/kong", only: []string{"internal/cli/..."}, why: "only commands have flags"},
	{library: "charm.land", only: []string{"internal/term"}, why: "only the terminal has terminal forms"},
	{library: "github.com/gorilla", only: []string{"web/identity/..."}, why: "browser sessions are a matter of sign-in"},
	{library: "github.com/prometheus", only: []string{".", "examples/...", "internal/app", "internal/metrics"}, why: "one package counts"},
	{library: "go.opentelemetry.io/otel/sdk", only: []string{"internal/tracing"}, why: "one package traces"},
}
