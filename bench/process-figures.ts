import { readdir, readFile } from 'node:fs/promises';
import { descendantsOf } from '../test/support/processes.ts';

/** What compiles plugins ends soon after a start, and is neither theirs nor at work when something is measured. */
const BUNDLER = /worker-main\.ts|esbuild --service/;

/** A process and everything below it, but for what compiles plugins. */
export async function familyOf(pid: number): Promise<number[]> {
  return [pid, ...(await below(pid))];
}

async function below(pid: number): Promise<number[]> {
  return (await descendantsOf(pid)).filter(({ command }) => !BUNDLER.test(command)).map((one) => one.pid);
}

/**
 * Processor time that a process and everything below it has taken, in microseconds: the sum over the threads that live.
 * What else runs on the machine changes it little, unlike anything that a clock measures.
 */
export async function cpuMicrosOf(pid: number): Promise<number> {
  const times = await Promise.all((await familyOf(pid)).map(threadsMicros));
  return times.reduce((sum, micros) => sum + micros, 0);
}

/** The part of it that a process's main thread has taken: what nothing else of a service can do meanwhile. */
export async function mainThreadMicrosOf(pid: number): Promise<number> {
  return await threadMicros(pid, String(pid));
}

/** Memory of a process in MiB: `Rss` counts shared pages as its own, `Pss` by their share. */
export async function memoryOf(pid: number, measure: 'Rss' | 'Pss'): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  const [, kilobytes = '0'] = new RegExp(`^${measure}:\\s+(\\d+) kB$`, 'm').exec(rollup) ?? [];
  return Number(kilobytes) / 1024;
}

/** `Pss` of everything below a process, but for what compiles plugins, in MiB. */
export async function memoryBelow(pid: number): Promise<number> {
  const sizes = await Promise.all((await below(pid)).map((one) => memoryOf(one, 'Pss')));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function threadsMicros(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const times = await Promise.all(threads.map((thread) => threadMicros(pid, thread)));
  return times.reduce((sum, micros) => sum + micros, 0);
}

/** The first number of a thread's `schedstat` is its time on a processor in nanoseconds. */
async function threadMicros(pid: number, thread: string): Promise<number> {
  const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
  return Number(text.split(' ', 1)[0]) / 1000;
}
