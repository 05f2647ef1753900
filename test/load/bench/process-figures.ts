import { readdir, readFile } from 'node:fs/promises';
import { descendantsOf } from '../../support/processes.ts';

/** Commands of processes that compile plugins. They end soon after a start and do no work during measurements. */
const BUNDLER = /worker-main\.ts|esbuild --service/;

/** Ids of a process and of all processes below it, without those that compile plugins. */
export async function familyOf(pid: number): Promise<number[]> {
  return [pid, ...(await below(pid))];
}

async function below(pid: number): Promise<number[]> {
  return (await descendantsOf(pid)).filter(({ command }) => !BUNDLER.test(command)).map((one) => one.pid);
}

/**
 * Processor time of a process and of all processes below it so far, in microseconds: the sum over their living threads.
 * Other work on the machine changes it little, unlike wall time.
 */
export async function cpuMicrosOf(pid: number): Promise<number> {
  const times = await Promise.all((await familyOf(pid)).map(threadsMicros));
  return times.reduce((sum, micros) => sum + micros, 0);
}

/** Processor time of a process's main thread so far, in microseconds. The service's event loop runs in this thread. */
export async function mainThreadMicrosOf(pid: number): Promise<number> {
  return await threadMicros(pid, String(pid));
}

/** Memory of a process in MiB; 0 if it has ended. `Rss` counts shared pages in full, `Pss` by the process's share. */
export async function memoryOf(pid: number, measure: 'Rss' | 'Pss'): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  const [, kilobytes = '0'] = new RegExp(`^${measure}:\\s+(\\d+) kB$`, 'm').exec(rollup) ?? [];
  return Number(kilobytes) / 1024;
}

/** `Pss` of all processes below a process, without those that compile plugins, in MiB. */
export async function memoryBelow(pid: number): Promise<number> {
  const sizes = await Promise.all((await below(pid)).map((one) => memoryOf(one, 'Pss')));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function threadsMicros(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const times = await Promise.all(threads.map((thread) => threadMicros(pid, thread)));
  return times.reduce((sum, micros) => sum + micros, 0);
}

/** Microseconds. The first number of a thread's `schedstat` is its time on a processor in nanoseconds. */
async function threadMicros(pid: number, thread: string): Promise<number> {
  const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
  return Number(text.split(' ', 1)[0]) / 1000;
}
