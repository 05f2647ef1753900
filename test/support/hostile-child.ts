/**
 * What runs in the child when a guest has got out of its isolate: a copy of the child's folder with this as its
 * entry. It restricts itself as the real entry does, and then runs the script that a call brings, with Node's
 * whole library at hand.
 */
import { writeSync } from 'node:fs';
// The same files from here and from the copy's place.
import { Channel } from '../../sandbox/process/channel.ts';
import { confine, missingRestriction } from '../../sandbox/process/confine.ts';
import { DOWN, UP } from '../../sandbox/protocol.ts';

const STDERR_FD = 2;

const reason = missingRestriction(process);
if (reason !== null) writeSync(STDERR_FD, `It should have refused to start: ${reason}.\n`);
const die = confine();
const channel = new Channel(3);

let running = 0;
// Some refusals come as events that nobody listens to.
process.on('uncaughtException', (error) => report(running, `refused: ${String(error)}`));

function attempt(call: number, text: string): void {
  running = call;
  const { params } = JSON.parse(text.slice(text.indexOf('\n') + 1)) as { params: { script: string } };
  const script = `data:text/javascript,${encodeURIComponent(params.script)}`;
  import(script)
    .then((module: { attempt: (tools: { channel: Channel }) => unknown }) => module.attempt({ channel }))
    .then(
      (value) => report(call, `succeeded: ${String(value)}`),
      (error: unknown) => report(call, `refused: ${String(error)}`),
    );
}

function report(call: number, message: string): void {
  if (call !== running) return;
  running = 0;
  channel.send(UP.LOG, call, JSON.stringify({ level: 'log', message }));
  const done = {
    outcome: { kind: 'returned', json: 'null' },
    usage: { cpu_ms: 0, calls: 0, heap_bytes: 0 },
    dropped_logs: 0,
    isolates: 1,
  };
  channel.send(UP.DONE, call, JSON.stringify(done));
  channel.flush();
}

channel.listen((kind, call, text) => {
  if (kind === DOWN.BOOT) channel.send(UP.READY, 0, JSON.stringify({ protocol: 1, node: process.version }));
  if (kind === DOWN.INVOKE) attempt(call, text);
  if (kind !== DOWN.LOAD) return;
  const { version } = JSON.parse(text) as { version: string };
  channel.send(UP.LOADED, 0, JSON.stringify({ version, isolate_bytes: 1, failure: null }));
}, die);
