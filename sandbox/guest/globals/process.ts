import type { Timers } from './timers.ts';

type Write = (text: unknown) => void;

/**
 * Makes the `process` that libraries look for: the granted environment and harmless members. It has no `versions.node`:
 * libraries that find one try to `require` Node's modules.
 */
export function createProcess(
  timers: Timers,
  log: Write,
  error: Write,
  now: () => number,
  env: Record<string, string>,
): GuestProcess {
  const process = {
    env,
    argv: [],
    title: 'plugin',
    version: 'v26.0.0',
    versions: {},
    platform: 'linux',
    arch: 'x64',
    exitCode: undefined,
    stdout: { isTTY: false, write: writeTo(log) },
    stderr: { isTTY: false, write: writeTo(error) },
    cwd: () => '/',
    uptime: () => now() / 1000,
    hrtime: createHrtime(now),
    nextTick: (callback: unknown, ...args: unknown[]) => timers.queueMicrotask(callback, args),
    emitWarning: (warning: unknown) => error(warning),
    on: () => process,
    once: () => process,
    off: () => process,
    addListener: () => process,
    removeListener: () => process,
    removeAllListeners: () => process,
    emit: () => false,
    listeners: () => [],
    listenerCount: () => 0,
  };
  return process;
}

export interface GuestProcess {
  /** The granted entries. An ordinary object, which the plugin may change for itself. */
  env: Record<string, string>;
  readonly [name: string]: unknown;
}

function writeTo(write: Write): (chunk: unknown) => boolean {
  return (chunk) => {
    const text = typeof chunk === 'string' ? chunk : String(chunk);
    write(text.endsWith('\n') ? text.slice(0, -1) : text);
    return true;
  };
}

function createHrtime(now: () => number): object {
  const nanoseconds = () => BigInt(Math.round(now() * 1000)) * 1000n;
  const hrtime = (since: readonly [number, number] = [0, 0]): [number, number] => {
    const passed = nanoseconds() - (BigInt(since[0]) * 1_000_000_000n + BigInt(since[1]));
    return [Number(passed / 1_000_000_000n), Number(passed % 1_000_000_000n)];
  };
  return Object.assign(hrtime, { bigint: nanoseconds });
}
