"""Runs a program in a pseudo-terminal: columns, then "<text to wait for>" "<line to type>" pairs before --, then the program. Prints all it showed."""
import fcntl, os, pty, select, struct, sys, termios, time

columns, arguments = int(sys.argv[1]), sys.argv[2:]
dialog, program = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(program[0], program)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
shown, seen, deadline = b"", 0, time.monotonic() + 20
while time.monotonic() < deadline:
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        chunk = os.read(terminal, 65536)
    except OSError:  # the program has ended
        break
    if not chunk:
        break
    shown += chunk
    if dialog and dialog[0].encode() in shown[seen:]:
        seen = len(shown)
        os.write(terminal, dialog[1].encode() + b"\r")
        dialog = dialog[2:]
else:
    os.kill(pid, 9)
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
