import { seededRandom } from '../../../support/seeded.ts';
import type { NodeEndpoint } from './chain.ts';
import { pass } from './pass.ts';

/** How often the lag of each node changes. */
const LAG_MS = 1_000;

/** Nodes that fall behind and catch up. */
export interface Lagging {
  /** How often a node was set behind. */
  readonly times: number;
  /** Resolves when all nodes have caught up. Safe to call twice. */
  stop(): Promise<void>;
}

/** Sets nodes behind by random shares, at regular intervals. @param mayLag whether a node may be behind now */
export function startLagging(
  nodes: readonly NodeEndpoint[],
  seed: number,
  mayLag: (index: number) => boolean,
): Lagging {
  const stopped = new AbortController();
  const random = seededRandom(seed, 'lagging');
  let times = 0;
  const each = async (shareOf: (index: number) => number) => {
    for (const [index, node] of nodes.entries()) {
      const share = shareOf(index);
      if (share > 0 && node.setBehind !== undefined) times += 1;
      await node.setBehind?.(share);
    }
  };
  const go = async () => {
    while (await pass(LAG_MS, stopped.signal)) await each((index) => (mayLag(index) ? random() : 0));
    await each(() => 0);
  };
  const going = go();
  return {
    get times() {
      return times;
    },
    async stop() {
      stopped.abort();
      await going;
    },
  };
}
