import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import type { World } from './world.ts';

/** Random disturbances of the instances and their database, in addition to kills. */
export interface Troubles {
  /** How often each kind happened. */
  readonly counts: ReadonlyMap<string, number>;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

const PAUSE_MS = [2_500, 7_000] as const;
/** A short freeze, and one that is longer than a lease. */
const FROZEN_MS = [500, 3_000] as const;
const FROZEN_LONG_MS = 12_000;
const DATABASE_FROZEN_MS = [500, 4_000] as const;
const DATABASE_DOWN_MS = [200, 3_000] as const;

export interface TroublesOptions {
  cluster: Pick<Cluster, 'freezeOne'>;
  postgres: World['postgres'];
  /** In [0, 1). */
  random(): number;
}

/** Starts troubles, one after the other. */
export function startTroubles({ cluster, postgres, random }: TroublesOptions): Troubles {
  const stopped = new AbortController();
  const { signal } = stopped;
  const counts = new Map<string, number>();
  const between = ([least, most]: readonly [number, number]) => least + random() * (most - least);

  const kinds: Record<string, () => Promise<void>> = {
    'instance frozen': () => cluster.freezeOne(random(), between(FROZEN_MS)),
    ...(postgres !== null && ofPostgres(postgres)),
  };

  function ofPostgres({ server, url }: NonNullable<World['postgres']>): Record<string, () => Promise<void>> {
    return {
      'instance frozen for longer than its lease': () => cluster.freezeOne(random(), FROZEN_LONG_MS),
      // Several cuts, so that some happen during a commit.
      'connections cut': async () => {
        for (let cut = 0; cut < 8; cut += 1) {
          await server.cutConnections(url);
          await pass(random() * 200);
        }
      },
      'database frozen': async () => {
        await server.freeze();
        await pass(between(DATABASE_FROZEN_MS));
        server.thaw();
      },
      'database killed': async () => {
        await server.kill();
        await pass(between(DATABASE_DOWN_MS));
        await server.restart();
      },
    };
  }

  async function pass(ms: number): Promise<boolean> {
    return await sleep(ms, true, { signal }).catch(() => false);
  }

  async function go(): Promise<void> {
    const names = Object.keys(kinds);
    while (await pass(between(PAUSE_MS))) {
      const name = names[Math.floor(random() * names.length)] ?? '';
      await kinds[name]?.();
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }

  const going = go();
  return {
    counts,
    async stop() {
      stopped.abort();
      await going;
    },
  };
}
