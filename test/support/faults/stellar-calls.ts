import { TransactionBuilder, xdr } from '@stellar/stellar-sdk';
import { STELLAR_DEFAULTS } from '../../doubles/stellar/control.ts';
import { type CallFault, type CallFaults, fromThePast } from './faults.ts';

const SEND = ['sendTransaction'];
const LOOK = ['getTransaction'];
const LATEST = ['getLatestLedger'];
const ENTRIES = ['getLedgerEntries'];
const FEES = ['getFeeStats'];
const SIMULATION = ['simulateTransaction'];

/** The number of ledgers whose transactions a pruning node keeps. Also how far a lying node is off. */
const KEPT = 30;
const FAR = 100_000;

type Record = { [key: string]: unknown };
type Looked = Record & { status: string; latestLedger: number; oldestLedger: number; latestLedgerCloseTime: string };
type Latest = Record & { sequence: number; closeTime: string };
type Entries = Record & { latestLedger: number; entries: { key: string; xdr: string }[] };
type Sent = Record & { status: string };

/** What can be wrong with the answers of a Soroban RPC node. */
export function stellarCallFaults(): CallFaults {
  return { table: { ...lags(), ...pruned(), ...lies() }, learn: () => {} };
}

/** Faults of a lagging node. */
function lags(): { [name: string]: CallFault } {
  return {
    'ledger of earlier': { nature: 'lag', methods: LATEST, answer: fromThePast },
    'account of earlier': { nature: 'lag', methods: ENTRIES, answer: fromThePast },
    'look of earlier': { nature: 'lag', methods: LOOK, answer: fromThePast },
    'fees of earlier': { nature: 'lag', methods: FEES, answer: fromThePast },
  };
}

/** Faults of a node that keeps only little of the chain, and says so. */
function pruned(): { [name: string]: CallFault } {
  return {
    'history begins late': {
      nature: 'pruned',
      methods: LOOK,
      answer: told<Looked>((truth) => {
        const oldestLedger = truth.latestLedger - KEPT;
        const isGone = typeof truth['ledger'] === 'number' && truth['ledger'] < oldestLedger;
        return isGone ? { ...notFound(truth), oldestLedger } : { ...truth, oldestLedger };
      }),
    },
  };
}

/** Faults that were never true. */
function lies(): { [name: string]: CallFault } {
  return {
    'not found': lie<Looked>(LOOK, notFound),
    'not found, and long past its time': lie<Looked>(LOOK, (truth) => ({
      ...notFound(truth),
      latestLedgerCloseTime: String(Number(truth.latestLedgerCloseTime) + FAR),
    })),
    'success forged': lie<Looked>(LOOK, (truth) => forged(truth, 'SUCCESS')),
    'failure forged': lie<Looked>(LOOK, (truth) => forged(truth, 'FAILED')),
    'success told as failure': lie<Looked>(
      LOOK,
      (truth) => truth.status === 'SUCCESS' && { ...truth, status: 'FAILED' },
    ),
    'failure told as success': lie<Looked>(
      LOOK,
      (truth) => truth.status === 'FAILED' && { ...truth, status: 'SUCCESS' },
    ),
    'another ledger': lie<Looked>(
      LOOK,
      (truth) => 'ledger' in truth && { ...truth, ledger: Number(truth['ledger']) - 1 },
    ),
    'ledger far too high': lie<Latest>(LATEST, (truth) => ({ ...truth, sequence: truth.sequence + FAR })),
    'time far too late': lie<Latest>(LATEST, (truth) => ({
      ...truth,
      closeTime: String(Number(truth.closeTime) + FAR),
    })),
    'time far too early': lie<Latest>(LATEST, (truth) => ({
      ...truth,
      closeTime: String(Number(truth.closeTime) - FAR),
    })),
    'no account': lie<Entries>(ENTRIES, (truth) => ({ ...truth, entries: [] })),
    'sequence too low': lie<Entries>(ENTRIES, (truth, unit) => accounts(truth, -1n - BigInt(Math.floor(unit * 50)))),
    'sequence too high': lie<Entries>(ENTRIES, (truth, unit) => accounts(truth, 1n + BigInt(Math.floor(unit * 50)))),
    'no money': lie<Entries>(ENTRIES, (truth) => accounts(truth, 0n, 0n)),
    'fees far too high': lie<Record>(FEES, (truth) => ({
      ...truth,
      inclusionFee: { p90: String(10 ** 12) },
      sorobanInclusionFee: { p90: String(10 ** 12) },
    })),
    'simulated to fail': lie<Record>(SIMULATION, ({ latestLedger }) => ({
      latestLedger,
      error: 'HostError: Error(Auth, X)',
    })),
    'taken falsely, kept from the node': { nature: 'lie', methods: SEND, reachesNode: false, answer: silence },
    'refused falsely': lie<Sent>(SEND, (truth, unit) => refused(truth, unit)),
    'no room, falsely': lie<Sent>(SEND, (truth) => ({ ...truth, status: 'TRY_AGAIN_LATER' })),
    'wrong hash': lie<Sent>(SEND, (truth, unit) => ({ ...truth, hash: Buffer.alloc(32, unit * 256).toString('hex') })),
  };
}

/** Answers as if the node had taken the bytes. */
const silence: CallFault['answer'] = ({ call }) => {
  const { transaction } = call.params as unknown as { transaction: string };
  const hash = TransactionBuilder.fromXdr(transaction, STELLAR_DEFAULTS.passphrase).hash();
  return { result: { status: 'PENDING', hash: Buffer.from(hash).toString('hex'), latestLedger: 1 } };
};

function lie<T>(methods: readonly string[], change: (truth: T, unit: number) => T | Record | false): CallFault {
  return { nature: 'lie', methods, answer: told(change) };
}

/** Replaces the true result by another, unless the change gives the same result or `false`. */
function told<T>(change: (truth: T, unit: number) => T | Record | false): CallFault['answer'] {
  return ({ truth, unit }) => {
    if (!('result' in truth)) return undefined;
    const result = change(truth.result as T, unit);
    return result === false || JSON.stringify(result) === JSON.stringify(truth.result) ? undefined : { result };
  };
}

function notFound({ latestLedger, latestLedgerCloseTime, oldestLedger, oldestLedgerCloseTime }: Looked): Looked {
  const common = { latestLedger, latestLedgerCloseTime, oldestLedger };
  return { status: 'NOT_FOUND', ...common, oldestLedgerCloseTime };
}

function forged(truth: Looked, status: string): Looked | false {
  return truth.status === 'NOT_FOUND' && { ...truth, status, ledger: truth.latestLedger - 1 };
}

const REFUSALS = [
  xdr.TransactionResultResult.txBadSeq(),
  xdr.TransactionResultResult.txTooLate(),
  xdr.TransactionResultResult.txBadAuth(),
  xdr.TransactionResultResult.txInsufficientBalance(),
  xdr.TransactionResultResult.txInsufficientFee(),
  xdr.TransactionResultResult.txMalformed(),
];

function refused(truth: Sent, unit: number): Sent {
  const result = REFUSALS[Math.floor(unit * REFUSALS.length)] ?? xdr.TransactionResultResult.txBadAuth();
  const told = new xdr.TransactionResult({ feeCharged: 100n, result, ext: xdr.TransactionResultExt.v0() });
  return { ...truth, status: 'ERROR', errorResultXdr: told.toXdr('base64') };
}

/** Changes the sequence, and perhaps the balance, of the accounts among entries. */
function accounts(truth: Entries, more: bigint, balance?: bigint): Entries {
  const entries = truth.entries.map((entry) => {
    const data = xdr.LedgerEntryData.fromXdr(entry.xdr, 'base64');
    if (data.type !== 'account') return entry;
    const { account } = data;
    const seqNum = account.seqNum + more;
    const changed = xdr.AccountEntry.fromXdrObject({
      ...account.toXdrObject(),
      seqNum,
      balance: balance ?? account.balance,
    });
    return { ...entry, xdr: xdr.LedgerEntryData.account(changed).toXdr('base64') };
  });
  return { ...truth, entries };
}
