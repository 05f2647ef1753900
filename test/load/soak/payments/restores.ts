import { cp, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Case, judgeCases } from '../../../support/model/judge.ts';
import { seededRandom } from '../../../support/seeded.ts';
import { Client } from './client.ts';
import { Cluster } from './cluster.ts';
import { jobOf } from './jobs.ts';
import type { SoakOptions, SoakResult } from './run.ts';
import { listAll, settle } from './settling.ts';
import { openWorld } from './world.ts';

export interface RestoreOptions extends SoakOptions {
  /** How often the data folder is put back. */
  restores: number;
}

/** Wide, so that much waits unsigned when the copy is made. */
const WIDTH = 64;
/** The time from the first request of a round to the copy, and from the last answer to the end of the process. */
const COPY_AFTER_MS = [20, 400] as const;
const KILL_AFTER_MS = [200, 4_000] as const;

/**
 * Copies the data folder of a server at work, as a snapshot of its disk does, kills the server some seconds later, and
 * puts the copy back, again and again. What the copy does not have is forgotten: that is no loss. But nothing may have
 * its effect twice, and what the service shows must be true.
 */
export async function soakRestores(options: RestoreOptions): Promise<SoakResult> {
  const { seed, transactions, restores, chain, say } = options;
  const began = performance.now();
  const world = await openWorld(options);
  const environment: Record<string, string> = { ...world.environmentOf(0), TRANSACTION_EXPIRATION_HOURS: '24' };
  const cluster = new Cluster({ instances: 1, postgres: null, environmentOf: () => environment });
  const { network } = world;
  const faultSchedule = network.startFaultSchedule({ changes: false, random: seededRandom(seed, 'faultSchedule') });
  const dataDir = environment['DATA_DIR'] ?? '';
  const copy = `${dataDir}-copy`;
  const random = seededRandom(seed, 'restores');
  const within = ([least, most]: readonly [number, number]) => least + random() * (most - least);
  try {
    const intentions = network.planOf(seed, transactions);
    const client = new Client(cluster);
    const share = Math.ceil(intentions.length / restores);
    let unsigned = 0;
    await cluster.startMissing();
    for (let round = 0; round < restores; round += 1) {
      const jobs = intentions.slice(round * share, (round + 1) * share).map((one) => jobOf(one, false));
      const sending = client.sendAll(jobs, WIDTH);
      await sleep(within(COPY_AFTER_MS));
      const { pid } = await cluster.pick();
      process.kill(pid, 'SIGSTOP');
      try {
        await rm(copy, { recursive: true, force: true });
        await cp(dataDir, copy, { recursive: true });
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await sending;
      await sleep(within(KILL_AFTER_MS));
      await cluster.killOne(0);
      await rm(dataDir, { recursive: true });
      await cp(copy, dataDir, { recursive: true });
      await cluster.startMissing();
      const shown = await listAll(await cluster.pick(), network);
      unsigned += shown.filter(({ status }) => status === 'pending').length;
      say(`${round + 1} of ${restores} put back`);
    }
    await faultSchedule.clear();
    await settle(await cluster.pick(), network, options.patienceMs);

    const shown = await listAll(await cluster.pick(), network);
    const { accepted, unknown, refused } = client.asked;
    const byId = new Map(shown.map((one) => [one.id, one]));
    const reading = await network.readChain(intentions);
    const cases: Case[] = [];
    const doubled: string[] = [];
    const forgotten = new Set<string>();
    for (const { index, mark, kind } of intentions) {
      const ids = [...(accepted.get(index) ?? [])];
      const known = ids.filter((id) => byId.has(id));
      const executed = reading.executions.filter(({ effect, succeeded }) => effect === mark && succeeded).length;
      if (executed > 1) doubled.push(`${kind} ${index}: executed ${executed} times`);
      if (known.length === 0) forgotten.add(mark);
      const validUntil = Math.min(
        client.asked.validUntil.get(index) ?? Infinity,
        reading.diedAt.get(index) ?? Infinity,
      );
      for (const id of known) {
        const one = byId.get(id);
        cases.push({
          name: `${kind} ${index} (${id})`,
          effect: mark,
          intents: [],
          validUntil: validUntil === Infinity ? null : validUntil,
          shown: one && { ...one, endedAt: null },
        });
      }
    }
    const executions = reading.executions.filter(({ effect }) => effect === null || !forgotten.has(effect));
    const isRefused = (effect: string) => reading.isRefused(effect);
    const faults = judgeCases(cases, { executions, isRefused, now: Date.now() });
    const adopted = cluster.output.split('"decision":"adopted"').length - 1;
    return {
      lines: [
        ['database', world.database],
        ['chain', chain.name],
        ['seed', seed],
        ['transactions', transactions],
        ['put back', restores],
        ['unsigned when put back', unsigned],
        ['taken as made', adopted],
        ['forgotten', [...accepted.values()].flatMap((ids) => [...ids]).filter((id) => !byId.has(id)).length],
        ['answers never heard', unknown.size],
        ['refused', refused.size],
        ['seconds', ((performance.now() - began) / 1000).toFixed(0)],
      ],
      verdict: {
        accepted: cases.length,
        confirmed: cases.filter((one) => one.shown?.status === 'confirmed').length,
        lost: faults.lost,
        doubled: [...new Set([...doubled, ...faults.doubled])],
        wrong: faults.wrong,
        // What was forgotten leaves sequences that nothing explains.
        gaps: [],
      },
      faults: [
        ...cluster.deaths.byThemselves.map((words) => `a process ended by itself: ${words}`),
        ...(unsigned + adopted === 0 ? ['nothing was unsigned in any copy'] : []),
      ],
      output: cluster.output,
    };
  } finally {
    await cluster.close();
    await faultSchedule.stop();
    await world.close();
  }
}
