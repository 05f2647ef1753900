import type { Anvil } from '../../../../support/anvil.ts';
import type { FaultSchedule } from '../chain.ts';
import { type FaultScheduleOptions, type Range, type Sky, startChanges } from '../fault-schedule.ts';
import { pass } from '../pass.ts';

/** `interval`: a block each second. `automine`: a block for each transaction. */
export const BLOCKS = ['interval', 'automine'] as const;
export type Blocks = (typeof BLOCKS)[number];

/** The depth from which a block is final. The schedule of faults removes fewer blocks. */
export const CONFIRMATIONS = 3;

const CHANGE_MS: Range = [1_500, 6_000];
const STILL_MS: Range = [2_000, 8_000];
/** A fork removes the blocks of a period of this length. */
const FORK_MS: Range = [700, 2_200];
/** In wei per unit of gas. */
const BASE_FEES: Range = [1_000_000_000, 31_000_000_000];
/** With `automine` an extra block comes this often, so that transactions get confirmations. */
const TICK_MS = 1_000;

/** Starts the schedule of faults over a node: base fees that jump, pauses without blocks, blocks that are removed. */
export function startFaultSchedule(
  anvil: Anvil,
  { blocks, ...options }: FaultScheduleOptions & { blocks: Blocks },
): FaultSchedule {
  const stopped = new AbortController();
  let isMining = true;

  async function mining(on: boolean): Promise<void> {
    if (blocks === 'interval') await anvil.rpc('evm_setIntervalMining', [on ? 1 : 0]);
    else await anvil.rpc('evm_setAutomine', [on]);
    isMining = on;
  }

  const jump = ({ some }: Sky) => anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${some(BASE_FEES).toString(16)}`]);

  async function stillness({ wait }: Sky): Promise<void> {
    await mining(false);
    await wait(STILL_MS);
    await mining(true);
    await anvil.rpc('evm_mine');
  }

  /**
   * Removes the newest blocks with their transactions, and mines a longer chain. Never removes final blocks.
   * @returns false if there was nothing to remove
   */
  async function reorganise({ wait }: Sky): Promise<boolean> {
    const height = async () => Number(await anvil.rpc('eth_blockNumber'));
    const [before, snapshot] = [await height(), await anvil.rpc('evm_snapshot')];
    await wait(FORK_MS);
    await mining(false);
    const depth = (await height()) - before;
    const isPossible = depth > 0 && depth < CONFIRMATIONS;
    if (isPossible) {
      await anvil.rpc('evm_revert', [snapshot]);
      await anvil.rpc('anvil_mine', [`0x${(depth + 1).toString(16)}`]);
    }
    await mining(true);
    return isPossible;
  }

  async function tick(): Promise<void> {
    while (await pass(TICK_MS, stopped.signal)) {
      if (isMining) await anvil.rpc('evm_mine');
    }
  }

  const faultSchedule = startChanges(options, CHANGE_MS, {
    'fee jump': { likely: 0.4, happen: jump },
    reorganisation: { likely: 0.3, happen: reorganise },
    stillness: { likely: 0.3, happen: stillness },
  });
  const ticking = blocks === 'automine' ? tick() : Promise.resolve();
  return {
    ...faultSchedule,
    async stop() {
      stopped.abort();
      await Promise.all([faultSchedule.clear(), ticking]);
    },
  };
}
