import { Keypair } from '@solana/web3.js';
import { CRASH_POINTS } from '../../../../../src/engine/lane/lane-step.ts';
import { type Svm, type SvmEndpoint, startSvm } from '../../../../doubles/svm/svm.ts';
import { solanaCallFaults } from '../../../../support/faults/solana-calls.ts';
import { declareOverKeys } from '../../../../support/relayer-accounts.ts';
import type { Workspace } from '../../../../support/workspace.ts';
import type { Nodes, SoakChain, SoakNetwork } from '../chain.ts';
import { eachOf } from '../each-of.ts';
import type { Intention } from '../intention.ts';
import { readChain, readingOf } from './chain-record.ts';
import { ClientBytes } from './client-bytes.ts';
import { FINALIZED_AFTER, startFaultSchedule } from './fault-schedule.ts';
import { readShown } from './marks.ts';
import { planOf, replacementOf, type SolanaIntention, type SolanaRelayer } from './plan.ts';
import { startStranger } from './stranger.ts';

/** The time of a slot. A blockhash is valid for 150 blocks, so for about nine seconds. */
const SLOT_MS = 60;
const CONFIRMED_AFTER = 2;
/** Two of the relayers share an account, and therefore a lane. */
const RELAYERS = 4;
const ACCOUNTS = 3;
const FUNDS = 100_000_000_000n;
/** How far a node can fall behind, in blocks. */
const MAX_BEHIND = 40;
/** Steps that never happen, because a Solana transaction is never replaced. */
const NOT_PASSED: readonly string[] = ['further-signed', 'further-written'];

/** An SVM that makes blocks at regular times. */
export const solanaChain: SoakChain = {
  name: `solana, a block each ${SLOT_MS} ms`,
  steps: CRASH_POINTS.filter((step) => !NOT_PASSED.includes(step)),
  callFaults: solanaCallFaults,
  start,
};

async function start(): Promise<Nodes> {
  const svm = await startSvm({ slotMs: SLOT_MS, confirmedAfter: CONFIRMED_AFTER, finalizedAfter: FINALIZED_AFTER });
  return {
    settings: { type: 'solana', average_blocktime_ms: SLOT_MS, is_testnet: true },
    endpoints: async (count) => {
      const others = Array.from({ length: count - 1 }, () => svm.endpoint());
      return [svm, ...(await Promise.all(others))].map(({ url, setBehind }) => ({
        url,
        setBehind: (share) => setBehind(Math.round(share * MAX_BEHIND)),
      }));
    },
    settle: async (workspace) => networkOf(svm, await svm.endpoint(), await settle(svm, workspace)),
    stop: () => svm.stop(),
  };
}

async function settle(svm: Svm, workspace: Workspace): Promise<SolanaRelayer[]> {
  const relayer = { network_type: 'solana', policies: { fee_payment_strategy: 'relayer' } };
  const declared = await declareOverKeys(workspace, { relayers: RELAYERS, accounts: ACCOUNTS, relayer });
  const relayers = declared.map(({ relayerId, key: { privateKey } }) => {
    const { publicKey } = Keypair.fromSeed(Buffer.from(privateKey.slice(2), 'hex'));
    return { relayerId, address: publicKey.toBase58() };
  });
  await eachOf([...accountsOf(relayers)], ([account]) => svm.airdrop(account, FUNDS));
  return relayers;
}

function accountsOf(relayers: readonly SolanaRelayer[]): Map<string, bigint> {
  return new Map(relayers.map(({ address }) => [address, FUNDS]));
}

/** @param node an endpoint without faults that is never behind */
function networkOf(svm: Svm, node: SvmEndpoint, relayers: readonly SolanaRelayer[]): SoakNetwork {
  const bytes = new ClientBytes(svm, node);
  return {
    relayerIds: relayers.map(({ relayerId }) => relayerId),
    planOf: (seed, count) => planOf(seed, count, relayers, (intention) => bytes.make(intention)),
    replacementOf: (seed, original) => replacementOf(seed, ownOf(original)),
    readShown,
    startFaultSchedule: (options) => startFaultSchedule(svm, options),
    startStranger: (random, shown) => startStranger(node, random, shown),
    async readChain(intentions) {
      const planned = intentions.map(ownOf);
      const record = await readChain(svm, node, { accounts: accountsOf(relayers), intentions: planned });
      return readingOf(record, planned, bytes.leases);
    },
  };
}

/** The soak passes only intentions that this network has planned. */
function ownOf(intention: Intention): SolanaIntention {
  return intention as SolanaIntention;
}
