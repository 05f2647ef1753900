import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/domain/clock.ts';
import { createLog } from '../../../src/observability/log.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../../src/store/store.ts';
import { engineReads, fillSqlite } from '../../support/history.ts';

/** The times of one of the engine's reads, in milliseconds: the first time, and the median of the following ones. */
export interface ReadFigures {
  name: string;
  first: number;
  median: number;
}

/**
 * Measures the engine's reads on the embedded store with `final` ended transactions in one lane. These reads block the
 * main loop. @param options `times`: the number of repetitions after the first read
 */
export async function benchHistory({ final, times }: { final: number; times: number }): Promise<ReadFigures[]> {
  const folder = await mkdtemp(join(tmpdir(), 'isolayer-history-'));
  try {
    const path = join(folder, 'isolayer.db');
    const open = () => openSqliteStore({ path, log: createLog('silent'), clock: systemClock });
    await (await open()).close();
    fillSqlite(path, final);
    const store = await open();
    try {
      return await measure(store, final, times);
    } finally {
      await store.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure({ read }: Store, final: number, times: number): Promise<ReadFigures[]> {
  const figures: ReadFigures[] = [];
  for (const [name, ask] of Object.entries(engineReads(read, final))) {
    const took: number[] = [];
    for (let count = 0; count <= times; count += 1) {
      const began = performance.now();
      await ask();
      took.push(performance.now() - began);
    }
    const [first = 0, ...rest] = took;
    figures.push({ name, first, median: rest.toSorted((a, b) => a - b)[Math.floor(rest.length / 2)] ?? 0 });
  }
  return figures;
}
