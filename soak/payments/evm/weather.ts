import type { Anvil } from '../../../test/support/anvil.ts';
import type { Weather } from '../chain.ts';
import { pass } from '../pass.ts';

/** Whether a block comes each second or with each transaction. */
export const BLOCKS = ['interval', 'automine'] as const;
export type Blocks = (typeof BLOCKS)[number];

/** The depth from which a block is final; the weather takes less back. */
export const CONFIRMATIONS = 3;

const CHANGE_MS = [1_500, 6_000] as const;
const STILL_MS = [2_000, 8_000] as const;
/** How much of the chain is taken back, by the time of an ordinary block. */
const FORK_MS = [700, 2_200] as const;
const GWEI = 1_000_000_000n;
/** The highest base fee, in gwei. */
const HIGHEST_FEE = 30;
/** Where no block comes by itself, one comes this often, so that what is in a block gets older. */
const TICK_MS = 1_000;

export interface WeatherOptions {
  blocks: Blocks;
  /** Whether it changes at all. */
  changes: boolean;
  /** In [0, 1). */
  random(): number;
}

/** Starts the weather over a node: fees that jump, blocks that do not come, or are taken back. */
export function startWeather(anvil: Anvil, { blocks, changes, random }: WeatherOptions): Weather {
  const fair = new AbortController();
  const stopped = new AbortController();
  const between = ([least, most]: readonly [number, number]) => least + random() * (most - least);
  let isMining = true;
  const counts = new Map<string, number>();
  const count = (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1);

  async function mining(on: boolean): Promise<void> {
    if (blocks === 'interval') await anvil.rpc('evm_setIntervalMining', [on ? 1 : 0]);
    else await anvil.rpc('evm_setAutomine', [on]);
    isMining = on;
  }

  async function jump(): Promise<void> {
    const baseFee = GWEI + (BigInt(Math.floor(random() * 1_000)) * BigInt(HIGHEST_FEE) * GWEI) / 1_000n;
    await anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${baseFee.toString(16)}`]);
    count('fee jump');
  }

  async function stillness(): Promise<void> {
    await mining(false);
    await pass(between(STILL_MS), fair.signal);
    await mining(true);
    await anvil.rpc('evm_mine');
    count('stillness');
  }

  /** Takes the latest blocks back, with what was in them, and puts a longer chain there. Nothing that is final. */
  async function reorganise(): Promise<void> {
    const height = async () => Number(await anvil.rpc('eth_blockNumber'));
    const [before, snapshot] = [await height(), await anvil.rpc('evm_snapshot')];
    await pass(between(FORK_MS), fair.signal);
    await mining(false);
    const depth = (await height()) - before;
    if (depth > 0 && depth < CONFIRMATIONS) {
      await anvil.rpc('evm_revert', [snapshot]);
      await anvil.rpc('anvil_mine', [`0x${(depth + 1).toString(16)}`]);
      count('reorganisation');
    }
    await mining(true);
  }

  async function change(): Promise<void> {
    while (await pass(between(CHANGE_MS), fair.signal)) {
      const kind = random();
      if (kind < 0.4) await jump();
      else if (kind < 0.7) await reorganise();
      else await stillness();
    }
  }

  async function tick(): Promise<void> {
    while (await pass(TICK_MS, stopped.signal)) {
      if (isMining) await anvil.rpc('evm_mine');
    }
  }

  const changing = changes ? change() : Promise.resolve();
  const ticking = blocks === 'automine' ? tick() : Promise.resolve();
  const clear = async () => {
    fair.abort();
    await changing;
  };
  return {
    counts,
    clear,
    async stop() {
      stopped.abort();
      await Promise.all([clear(), ticking]);
    },
  };
}
