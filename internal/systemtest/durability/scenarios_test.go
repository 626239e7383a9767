package durability

// A scenario describes a run: how it comes to wait or end, and what is left to
// do when its folder is opened later.
type scenario struct {
	Name, Photon, Args string
	Owner              string  // operator, token or session; nobody can act as the last later: a cookie expires
	Task               string  // the protocol version in which it is called as a task; "" if it isn't
	Made               []reply // before
	Left               []reply // after
	End                string  // its state at last
	Error              string  // a part of its error then
	Tells              []string

	Cold     bool // evicted before the program ends
	Stop     bool
	Stray    bool // what is left is answered, in the stopped folder, by a program without the photon
	Restless bool // it goes on by itself: its state in the folder is not the one that is found
}

// interviewAnswers are the answers to an interview, in order.
var interviewAnswers = []reply{
	{Key: "name", Content: `{"name":"Ada"}`},
	{Key: "guests", Content: `{"guests":3}`},
	{Key: "price", Content: `{"price":12.5}`},
	{Key: "meal", Content: `{"meal":"beans"}`},
	{Key: "extras", Content: `{"extras":["tea","cake"]}`},
	{Key: "day", Content: `{"day":"2026-12-24"}`},
	{Key: "moment", Content: `{"moment":"2026-12-24T18:30:00Z"}`},
	{Key: "signup", Content: `{"name":"Ada","email":"ada@example.org","age":36,"role":"dev","topics":["auth"],"news":false}`},
	{Key: "first", Content: `{"first":"one"}`},
	{Key: "second", Content: `{"second":true}`},
	{Key: "consent", Content: `{}`},
	{Key: "sure", Content: `{"sure":true}`},
}

func newInterview(name, owner string, cold bool, n int) scenario {
	return scenario{
		Name: name, Photon: "interview", Args: "{}", Owner: owner, Cold: cold,
		Made: interviewAnswers[:n], Left: interviewAnswers[n:], End: "completed", Tells: interviewTells,
	}
}

// interviewTells has texts of an interview's events and result.
var interviewTells = []string{
	`looking around`, `still looking`, `a third`, `"tables":4`, `no soup`, `a toast`, `two`,
	`small.txt`, `large.txt`, `seat seat 12; no table by the window`,
	`"seat":"seat 12"`, `"name":"Ada"`, `"guests":3`, `"price":12.5`, `"meal":"beans"`, `"extras":["tea","cake"]`,
	`"day":"2026-12-24"`, `"moment":"2026-12-24T18:30:00Z"`, `"email":"ada@example.org"`, `"age":36`, `"news":false`,
	`"first":"one"`, `"second":true`, `"sure":true`,
}

// vaultAnswers are the answers to a vault.
var vaultAnswers = []reply{{Key: "secret", Content: `{"secret":"xyzzy-plugh"}`}, {Key: "file", File: "f.txt"}, {Key: "lock", Content: `{"lock":true}`}}

func newVault(name string, cold bool, n int) scenario {
	return scenario{
		Name: name, Photon: "vault", Args: "{}", Owner: "operator", Cold: cold,
		Made: vaultAnswers[:n], Left: vaultAnswers[n:], End: "completed", Tells: []string{"f.txt: 400000 bytes a914dccc192cb6f3 under 39f0f400b745f8cb"},
	}
}

func newTask(name, owner, task string, made, left []reply, end string, tells ...string) scenario {
	return scenario{Name: name, Photon: "task", Args: "{}", Owner: owner, Task: task, Made: made, Left: left, End: end, Tells: tells}
}

func taskAnswer(w string) []reply { return []reply{{Key: "word", Content: `{"word":"` + w + `"}`}} }

// scenarios returns all runs of a folder.
func scenarios() []scenario {
	beside := []reply{{Key: "right", Content: `{"right":"a tree"}`}, {Key: "left", Content: `{"left":"a house"}`}}
	poem := []reply{
		{Key: "folders", Result: `{"roots":[{"uri":"file:///srv/a","name":"a"},{"uri":"file:///srv/b"}]}`},
		{Key: "poem", Result: `{"role":"assistant","content":{"type":"text","text":"roses"},"model":"m","stopReason":"endTurn"}`},
	}
	howLong := []reply{{Key: "patience", Content: `{"patience":"very"}`}}
	return []scenario{
		newInterview("asks first, hot", "operator", false, 0),
		newInterview("asks first, cold", "operator", true, 0),
		newInterview("asks for a form, cold", "operator", true, 7),
		newInterview("asks two at once, one answered", "operator", false, 9),
		newInterview("asks to open an address, cold", "operator", true, 10),
		newInterview("completed", "operator", true, 12),
		newInterview("of a token, hot", "token", false, 5),
		newInterview("of a token, completed", "token", false, 12),
		newInterview("of a session, cold", "session", true, 3),
		newInterview("of a session, completed", "session", true, 12),
		newVault("asks for a secret, hot", false, 0),
		newVault("asks for a file, cold", true, 1),
		newVault("has a secret and a file, cold", true, 2),
		newVault("has a secret and a file, hot", false, 2),
		newVault("locked", false, 3),
		{Name: "two goroutines, cold", Photon: "crowd", Args: "{}", Owner: "operator", Cold: true, Made: beside[:1], Left: beside[1:], End: "completed", Tells: []string{"a house and a tree"}},
		{Name: "two goroutines, hot", Photon: "crowd", Args: "{}", Owner: "operator", Left: beside, End: "completed", Tells: []string{"a house and a tree"}},
		{Name: "asks for folders", Photon: "model", Args: "{}", Owner: "operator", Left: poem, End: "completed", Tells: []string{"roses in 2 folders"}},
		{Name: "asks a model, cold", Photon: "model", Args: "{}", Owner: "operator", Cold: true, Made: poem[:1], Left: poem[1:], End: "completed", Tells: []string{"roses in 2 folders"}},
		{Name: "has a deadline, cold", Photon: "patient", Args: "{}", Owner: "operator", Cold: true, Left: howLong, End: "completed", Tells: []string{"very"}},
		{Name: "expired", Photon: "patient", Args: `{"soon":true}`, Owner: "operator", End: "unanswered"},
		{Name: "declined", Photon: "patient", Args: "{}", Owner: "operator", Made: []reply{{Key: "patience", Action: "decline"}}, End: "unanswered", Error: "declined"},
		{Name: "dismissed", Photon: "patient", Args: "{}", Owner: "operator", Made: []reply{{Key: "patience", Action: "cancel"}}, End: "unanswered"},
		{Name: "stopped", Photon: "patient", Args: "{}", Owner: "operator", Stop: true, End: "stopped"},
		{Name: "failed", Photon: "task", Args: "{}", Owner: "operator", Made: taskAnswer("fail"), End: "failed", Error: "a word that fails"},
		{Name: "interrupted", Photon: "brief", Args: "{}", Owner: "operator", Restless: true, End: "interrupted"},
		{Name: "in a step", Photon: "worker", Args: "{}", Owner: "operator", Restless: true, End: "completed", Tells: []string{"seat 12 done"}},
		{Name: "answered without its photon", Photon: "patient", Args: "{}", Owner: "operator", Stray: true, Left: howLong, End: "completed", Tells: []string{"very"}},
		newTask("task, waiting", "operator", "2025-11-25", nil, taskAnswer("fish"), "completed", "fish"),
		newTask("task, completed", "operator", "2025-11-25", taskAnswer("bird"), nil, "completed", "bird"),
		newTask("task, failed", "operator", "2025-11-25", taskAnswer("fail"), nil, "failed"),
		newTask("extension's task, waiting", "operator", "2026-07-28", nil, taskAnswer("frog"), "completed", "frog"),
		newTask("extension's task, completed", "operator", "2026-07-28", taskAnswer("toad"), nil, "completed", "toad"),
	}
}
