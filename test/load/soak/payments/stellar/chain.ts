import { Keypair } from '@stellar/stellar-sdk';
import { CRASH_POINTS } from '../../../../../src/engine/lane/lane-step.ts';
import { type StellarEndpoint, type StellarNet, startStellar } from '../../../../doubles/stellar/stellar-net.ts';
import { stellarCallFaults } from '../../../../support/faults/stellar-calls.ts';
import { declareOverKeys } from '../../../../support/relayer-accounts.ts';
import type { Workspace } from '../../../../support/workspace.ts';
import type { Nodes, SoakChain, SoakNetwork } from '../chain.ts';
import { eachOf } from '../each-of.ts';
import type { Intention } from '../intention.ts';
import { readChain, readingOf } from './chain-record.ts';
import { ClientBytes } from './client-bytes.ts';
import { startFaultSchedule } from './fault-schedule.ts';
import { readShown } from './marks.ts';
import { planOf, replacementOf, type StellarIntention, type StellarRelayer } from './plan.ts';
import { type KeyThief, startStranger } from './stranger.ts';

/** The time of a ledger. Close times are whole seconds, so with a shorter time they would run ahead of the clock. */
const LEDGER_MS = 1_000;
/**
 * A ledger takes one transaction of an account, so there are more accounts than on other chains. Two of the relayers
 * share one.
 */
const RELAYERS = 7;
const ACCOUNTS = 6;
const FUNDS = 10_000_000_000n;
/** Short, so that a lost transaction is signed again during the soak. */
const TIMEOUT_S = 20;
/** How far a node can fall behind, in ledgers. */
const MAX_BEHIND = 10;
/** Steps that never happen, because a Stellar transaction is never replaced. */
const NOT_PASSED: readonly string[] = ['further-signed', 'further-written'];

/** A Stellar network that closes ledgers at regular times. */
export const stellarChain: SoakChain = {
  name: `stellar, a ledger each ${LEDGER_MS} ms`,
  steps: CRASH_POINTS.filter((step) => !NOT_PASSED.includes(step)),
  callFaults: stellarCallFaults,
  start,
};

async function start(): Promise<Nodes> {
  const net = await startStellar({ ledgerMs: LEDGER_MS });
  return {
    settings: { type: 'stellar', passphrase: net.passphrase, average_blocktime_ms: LEDGER_MS, is_testnet: true },
    endpoints: async (count) => {
      const others = Array.from({ length: count - 1 }, () => net.endpoint());
      return [net, ...(await Promise.all(others))].map(({ url, setBehind }) => ({
        url,
        setBehind: (share) => setBehind(Math.round(share * MAX_BEHIND)),
      }));
    },
    settle: async (workspace) => networkOf(net, await net.endpoint(), await settle(net, workspace)),
    stop: () => net.stop(),
  };
}

async function settle(net: StellarNet, workspace: Workspace): Promise<StellarRelayer[]> {
  const policies = { fee_payment_strategy: 'relayer', timeout_seconds: TIMEOUT_S };
  const relayer = { network_type: 'stellar', policies };
  const declared = await declareOverKeys(workspace, { relayers: RELAYERS, accounts: ACCOUNTS, relayer });
  const relayers = declared.map(({ relayerId, key: { privateKey } }) => {
    return { relayerId, key: Keypair.fromRawEd25519Seed(Buffer.from(privateKey.slice(2), 'hex')) };
  });
  await eachOf([...accountsOf(relayers)], ([account]) => net.fund(account, FUNDS));
  return relayers;
}

function accountsOf(relayers: readonly StellarRelayer[]): Map<string, bigint> {
  return new Map(relayers.map(({ key }) => [key.publicKey(), FUNDS]));
}

/** @param node an endpoint without faults that is never behind */
async function networkOf(
  net: StellarNet,
  node: StellarEndpoint,
  relayers: readonly StellarRelayer[],
): Promise<SoakNetwork> {
  const bytes = new ClientBytes(net, node, await net.assetContract('native'));
  const make = (intention: StellarIntention) => bytes.make(intention);
  const marks = new Map<string, string | null>();
  let thief: KeyThief | undefined;
  return {
    relayerIds: relayers.map(({ relayerId }) => relayerId),
    planOf: (seed, count) => planOf(seed, count, relayers, make),
    replacementOf: (seed, original) => replacementOf(seed, ownOf(original), make),
    readShown: (transaction) => readShown(transaction, marks),
    startFaultSchedule: (options) => startFaultSchedule(net, options),
    startStranger(random) {
      thief = startStranger(node, random, { relayers, net });
      return thief;
    },
    async readChain(intentions) {
      const planned = intentions.map(ownOf);
      const record = await readChain(net, node, { accounts: accountsOf(relayers), intentions: planned });
      for (const { hash, mark } of record.landed) marks.set(hash, mark);
      return readingOf(record, planned, { ends: bytes.ends, foreign: thief?.hashes ?? new Set() });
    },
  };
}

/** The soak passes only intentions that this network has planned. */
function ownOf(intention: Intention): StellarIntention {
  return intention as StellarIntention;
}
