/**
 * The child of a guest that has escaped from its isolate: the child's program with this file as its entry. It restricts
 * itself as the real entry does. Plugins whose id begins with `hostile` get no isolate. The script in their call runs
 * with Node's whole library and with the channel. Other plugins are served honestly.
 */
import { writeSync } from 'node:fs';
import { Channel } from '../../process/channel.ts';
import { confine, missingRestriction } from '../../process/confine.ts';
import { PluginProcess } from '../../process/plugin-process.ts';
import { DOWN, UP } from '../../protocol.ts';

/** What a script may use. */
export interface HostileTools {
  channel: Channel;
  /** The number of its call. */
  call: number;
  /** The numbers of all calls given to this process, the latest last. */
  calls: number[];
  /** Sends one frame at once. A payload that is no text is sent as JSON. */
  say(kind: number, call: number, payload?: unknown): void;
  /** Writes bytes as they are. */
  raw(bytes: Buffer): void;
  /** Ends a call that is outside of the guest honestly, with this result. */
  done(call: number, result?: unknown): void;
  /** The text of the next answer to a capability call. */
  reply(): Promise<string>;
}

interface Attempt {
  /** `silent` when nothing is to be reported; anything else goes into the log of the call. */
  attempt(tools: HostileTools): unknown;
}

const CHANNEL_FD = 3;
const STDERR_FD = 2;

const reason = missingRestriction(process);
if (reason !== null) writeSync(STDERR_FD, `It should have refused to start: ${reason}.\n`);
const die = confine();
const channel = new Channel(CHANNEL_FD);
const honest = new PluginProcess(channel, process.version);

let isHostile = false;
let running = 0;
const calls: number[] = [];
const waiting: ((text: string) => void)[] = [];
const replies: string[] = [];
const tools: Omit<HostileTools, 'call'> = {
  channel,
  calls,
  say(kind, call, payload = '') {
    channel.send(kind, call, typeof payload === 'string' ? payload : JSON.stringify(payload));
    channel.flush();
  },
  raw(bytes) {
    for (let at = 0; at < bytes.length; ) {
      try {
        at += writeSync(CHANNEL_FD, bytes, at);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      }
    }
  },
  done(call, result = null) {
    channel.send(UP.ENTER, call, '');
    tools.say(UP.RETURNED, call, `0 0 0 0 1\n${JSON.stringify(result)}`);
  },
  reply: () => {
    const text = replies.shift();
    return text === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(text);
  },
};

// Some refusals come as events without a listener.
process.on('uncaughtException', (error) => report(running, `refused: ${String(error)}`));

function attempt(call: number, text: string): void {
  running = call;
  calls.push(call);
  const { params } = JSON.parse(text.slice(text.indexOf('\n') + 1)) as { params: { script: string } };
  const script = `data:text/javascript,${encodeURIComponent(params.script)}`;
  import(script)
    .then((module: Attempt) => module.attempt({ ...tools, call }))
    .then(
      (value) => value !== 'silent' && report(call, `succeeded: ${String(value)}`),
      (error: unknown) => report(call, `refused: ${String(error)}`),
    );
}

function report(call: number, message: string): void {
  if (call !== running) return;
  running = 0;
  channel.enter(call);
  channel.send(UP.LOG, call, `log ${message}`);
  channel.send(UP.LEAVE, call, '');
  tools.done(call);
}

channel.listen((kind, call, text) => {
  if (kind === DOWN.LOAD) isHostile = (JSON.parse(text) as { pluginId: string }).pluginId.startsWith('hostile');
  if (kind === DOWN.BOOT || !isHostile) return honest.receive(kind, call, text);
  if (kind === DOWN.INVOKE) attempt(call, text);
  if (kind === DOWN.REPLY) {
    const next = waiting.shift();
    if (next === undefined) replies.push(text);
    else next(text);
  }
  if (kind !== DOWN.LOAD) return;
  const { version, code } = JSON.parse(text) as { version: string; code: string };
  const loaded = /HOSTILE_LOADED = (\{.*\});/.exec(code)?.[1];
  const answer = { version, isolate_bytes: 1, failure: null };
  channel.send(UP.LOADED, 0, JSON.stringify({ ...answer, ...(loaded === undefined ? {} : JSON.parse(loaded)) }));
}, die);
