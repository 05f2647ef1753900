import { CRASH_POINTS } from '../../../../../src/engine/lane/lane-step.ts';
import { type Anvil, startAnvil } from '../../../../support/anvil.ts';
import { evmCallFaults } from '../../../../support/faults/evm-calls.ts';
import { declareRelayers, type RelayerAccount } from '../../../../support/relayer-accounts.ts';
import type { Workspace } from '../../../../support/workspace.ts';
import type { Nodes, SoakChain, SoakNetwork } from '../chain.ts';
import type { Intention } from '../intention.ts';
import { readChain, readingOf, readShown } from './chain-record.ts';
import { type Blocks, CONFIRMATIONS, startFaultSchedule } from './fault-schedule.ts';
import { COUNTER, type EvmIntention, planOf, REVERTER, replacementOf } from './plan.ts';
import { type KeyThief, startStranger } from './stranger.ts';

/** Two of the relayers share an account, and therefore its nonces and its lane. */
const RELAYERS = 4;
const ACCOUNTS = 3;

/** Anvil, with blocks at regular times or one for each transaction. */
export function evmChain(blocks: Blocks): SoakChain {
  return {
    name: `evm, blocks ${blocks}`,
    steps: CRASH_POINTS,
    callFaults: evmCallFaults,
    start: () => start(blocks),
  };
}

async function start(blocks: Blocks): Promise<Nodes> {
  const anvil = await startAnvil(blocks === 'interval' ? { blockTime: 1 } : {});
  return {
    settings: { required_confirmations: CONFIRMATIONS, average_blocktime_ms: 1_000 },
    endpoints: async (count) => Array.from({ length: count }, () => ({ url: anvil.url })),
    settle: async (workspace) => networkOf(anvil, blocks, await settle(anvil, workspace)),
    stop: () => anvil.stop(),
  };
}

async function settle(anvil: Anvil, workspace: Workspace): Promise<RelayerAccount[]> {
  for (const { address, code } of [COUNTER, REVERTER]) await anvil.rpc('anvil_setCode', [address, code]);
  return await declareRelayers(workspace, anvil, { relayers: RELAYERS, accounts: ACCOUNTS });
}

function networkOf(anvil: Anvil, blocks: Blocks, relayers: readonly RelayerAccount[]): SoakNetwork {
  let thief: KeyThief | undefined;
  return {
    relayerIds: relayers.map(({ relayerId }) => relayerId),
    planOf: (seed, count) => planOf(seed, count, relayers),
    replacementOf: (seed, original) => replacementOf(seed, ownOf(original)),
    readShown,
    startFaultSchedule: (options) => startFaultSchedule(anvil, { blocks, ...options }),
    startStranger(random) {
      thief = startStranger(anvil, relayers, random);
      return thief;
    },
    async readChain(intentions) {
      const addresses = relayers.map(({ address }) => address);
      return readingOf(await readChain(anvil, addresses, intentions.map(ownOf)), thief?.hashes ?? new Set());
    },
  };
}

/** The soak passes only intentions that this network has planned. */
function ownOf(intention: Intention): EvmIntention {
  return intention as EvmIntention;
}
