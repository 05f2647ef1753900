import { writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { Channel } from './channel.ts';
import { closeInherited, confine, missingRestriction } from './confine.ts';
import { loadNodeBuiltins } from './node-builtins.ts';
import { PluginProcess } from './plugin-process.ts';

/** The descriptor on which the host speaks. */
const CHANNEL_FD = 3;
const STDERR_FD = 2;
/** `EX_CONFIG` of sysexits.h. */
const BADLY_STARTED = 78;
/**
 * Stack of a guest: V8's usual size, and smaller than this side's. Host functions that a guest calls from its deepest
 * frame must not run out of stack halfway: that would corrupt Node's own lists, of timers for instance.
 */
const GUEST_STACK_KB = 984;
/** How long after its start the process loads what it does not need at once, in milliseconds. */
const LATE_MS = 30;

const reason = missingRestriction(process);
if (reason !== null) {
  writeSync(STDERR_FD, `This process refuses to run guest code: ${reason}.\n`);
  process.exit(BADLY_STARTED);
}

// A guest's local time is the same on every machine.
process.env['TZ'] = 'UTC';
closeInherited();
setFlagsFromString(`--stack-size=${GUEST_STACK_KB}`);
const die = confine();
// A regular exit would run code that a guest left behind, and can hang forever inside V8.
process.setUncaughtExceptionCaptureCallback((error) => {
  writeSync(STDERR_FD, `${error instanceof Error ? error.stack : String(error)}\n`);
  die();
});

const channel = new Channel(CHANNEL_FD);
const plugin = new PluginProcess(channel, process.version);
channel.listen((kind, call, text) => plugin.receive(kind, call, text), die);
setTimeout(loadNodeBuiltins, LATE_MS);
