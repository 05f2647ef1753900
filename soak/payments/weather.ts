import { setTimeout as sleep } from 'node:timers/promises';
import type { Anvil } from '../../test/support/anvil.ts';
import type { Blocks } from './world.ts';

/** What happens on the network while a soak runs: fees that jump, blocks that do not come. */
export interface Weather {
  /** Blocks come and fees fall from now on. Safe to call twice. */
  clear(): Promise<void>;
  /** Clear, and no block is made for the sake of time any more. Safe to call twice. */
  stop(): Promise<void>;
}

const CHANGE_MS = [1_500, 6_000] as const;
const STILL_MS = [2_000, 8_000] as const;
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

/** Starts the weather over a node. */
export function startWeather(anvil: Anvil, { blocks, changes, random }: WeatherOptions): Weather {
  const fair = new AbortController();
  const stopped = new AbortController();
  const between = ([least, most]: readonly [number, number]) => least + random() * (most - least);
  let isMining = true;

  async function mining(on: boolean): Promise<void> {
    if (blocks === 'interval') await anvil.rpc('evm_setIntervalMining', [on ? 1 : 0]);
    else await anvil.rpc('evm_setAutomine', [on]);
    isMining = on;
  }

  async function jump(): Promise<void> {
    const baseFee = GWEI + (BigInt(Math.floor(random() * 1_000)) * BigInt(HIGHEST_FEE) * GWEI) / 1_000n;
    await anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${baseFee.toString(16)}`]);
  }

  async function change(): Promise<void> {
    while (await pass(between(CHANGE_MS), fair.signal)) {
      if (random() < 0.5) {
        await jump();
        continue;
      }
      await mining(false);
      await pass(between(STILL_MS), fair.signal);
      await mining(true);
      await anvil.rpc('evm_mine');
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
    clear,
    async stop() {
      stopped.abort();
      await Promise.all([clear(), ticking]);
    },
  };
}

/** @returns false when it was ended before the time was over */
async function pass(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
