package peers

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A peer is a server's process and the client's end of its pipes.
type peer struct {
	tb   testing.TB
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	stop func() // once
}

func startPeer(tb testing.TB, name string) *peer {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BEAM_PEER="+name, "BEAM_PEER_DATA="+tb.TempDir())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p := &peer{tb: tb, cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	p.stop = sync.OnceFunc(func() {
		in.Close()
		done := time.AfterFunc(5*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		done.Stop()
	})
	tb.Cleanup(p.stop)
	p.writeLine(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"peers","version":"1"}}}`)
	p.readMessage()
	p.writeLine(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func (p *peer) writeLine(line string) {
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.tb.Fatal(err)
	}
}

// readMessage returns the next request or response. It skips notifications.
func (p *peer) readMessage() string {
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			p.tb.Fatal(err)
		}
		if !strings.Contains(line, `"method":"notifications/`) {
			return line
		}
	}
}

func callLine(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, tool)
}

func answerLine(question string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":"fish"}}}`, messageID(question))
}

// completeCall makes one call, from request to result.
func (p *peer) completeCall(id int) {
	p.writeLine(callLine(id, "ask"))
	p.writeLine(answerLine(p.readMessage()))
	if result := p.readMessage(); !strings.Contains(result, `"result"`) {
		p.tb.Fatal(result)
	}
}

// memory returns one of the process's memory figures, in bytes: VmRSS is the resident
// memory, VmHWM its peak.
func (p *peer) memory(figure string) float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.tb.Skip(err)
	}
	_, rest, _ := strings.Cut(string(raw), figure)
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		p.tb.Fatal(err)
	}
	return float64(kb) * 1024
}
