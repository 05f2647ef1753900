import { xdr } from '@stellar/stellar-sdk';
import { keyOfXdr, keyToXdr } from '../ledger/entry-key.ts';
import { toEntryData, toEntryExtension } from '../ledger/entry-xdr.ts';
import { closeMeta, PROTOCOL } from '../node/closed-ledger.ts';
import { modeOf, type Phase, paidLately, percentile } from './fee-window.ts';
import type { Methods } from './method.ts';
import { mustBeBase64, textsIn } from './params.ts';
import { CODES, invalidParams, RpcError } from './rpc-error.ts';
import type { View } from './view.ts';

const MAX_KEYS = 200;

/** Methods about the node, its ledgers and their entries. */
export const chainMethods: Methods = {
  getHealth(view) {
    if (view.illness !== null) throw new RpcError(CODES.internal, view.illness);
    return {
      status: 'healthy',
      latestLedger: view.latest.sequence,
      latestLedgerCloseTime: String(view.latest.closeTime),
      oldestLedger: view.oldest.sequence,
      oldestLedgerCloseTime: String(view.oldest.closeTime),
      ledgerRetentionWindow: view.retention,
    };
  },
  getNetwork: ({ passphrase }) => ({ passphrase, protocolVersion: PROTOCOL }),
  getVersionInfo: () => ({
    version: '28.0.0',
    commitHash: '41b2f0ff41b2f0ff41b2f0ff41b2f0ff41b2f0ff',
    buildTimestamp: '2026-08-06T22:46:35',
    captiveCoreVersion: 'stellar-core 28.0.0 (a9b861321a9b861321a9b861321a9b861321a9b8)',
    protocolVersion: PROTOCOL,
  }),
  getLatestLedger({ latest }) {
    return {
      id: latest.hash,
      protocolVersion: PROTOCOL,
      sequence: latest.sequence,
      closeTime: String(latest.closeTime),
      headerXdr: latest.header.toXdr('base64'),
      metadataXdr: closeMeta(latest).toXdr('base64'),
    };
  },
  getFeeStats: (view) => ({
    sorobanInclusionFee: distribution(view, 'soroban'),
    inclusionFee: distribution(view, 'classic'),
    latestLedger: view.latest.sequence,
  }),
  getLedgerEntries(view, fields) {
    mustBeBase64(fields);
    const keys = textsIn(fields, 'keys');
    if (keys.length > MAX_KEYS) {
      throw invalidParams(`key count (${keys.length}) exceeds maximum supported (${MAX_KEYS})`);
    }
    const entries = [...new Set(keys)].flatMap((key, index) => entryOf(view, key, index));
    return { entries, latestLedger: view.latest.sequence };
  },
};

function entryOf(view: View, text: string, index: number): unknown[] {
  const key = ledgerKeyIn(text);
  if (key === undefined) throw invalidParams(`cannot unmarshal key value ${text} at index ${index}`);
  if (key.type === 'ttl') throw invalidParams('ledger ttl entries cannot be queried directly');
  const stored = view.node.state.get(keyOfXdr(key) ?? '');
  if (stored === undefined) return [];
  const { entry, modified } = stored;
  return [
    {
      key: keyToXdr(entry).toXdr('base64'),
      xdr: toEntryData(entry).toXdr('base64'),
      lastModifiedLedgerSeq: modified,
      ...('liveUntil' in entry ? { liveUntilLedgerSeq: entry.liveUntil } : {}),
      extXdr: toEntryExtension(entry).toXdr('base64'),
    },
  ];
}

function ledgerKeyIn(text: string): xdr.LedgerKey | undefined {
  try {
    return xdr.LedgerKey.fromXdr(text, 'base64');
  } catch {
    return undefined;
  }
}

function distribution(view: View, phase: Phase) {
  const { fees, ledgers } = paidLately(view, phase);
  const at = (share: number) => String(percentile(fees, share));
  return {
    max: String(fees.at(-1) ?? 0n),
    min: String(fees[0] ?? 0n),
    mode: String(modeOf(fees)),
    ...Object.fromEntries([10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99].map((share) => [`p${share}`, at(share)])),
    transactionCount: String(fees.length),
    // If there are no fees, the node reports no ledgers either.
    ledgerCount: fees.length === 0 ? 0 : ledgers,
  };
}
