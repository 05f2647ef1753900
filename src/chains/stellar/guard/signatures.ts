import { hash } from 'node:crypto';
import { Keypair, StrKey, xdr } from '@stellar/stellar-sdk/base';
import type { TransactionDraft } from '../message/draft.ts';
import { changesSigners } from '../message/outflow.ts';
import { transactionHash } from '../message/transaction.ts';
import { accountOfMuxed, type Envelope } from '../message/transaction-envelope.ts';
import type { SigningAuthority } from '../rpc-calls.ts';

type Level = keyof SigningAuthority['thresholds'];

/** Operations that need another threshold than the medium one of payments (stellar-core, `getThresholdLevel`). */
const LEVELS: Readonly<Record<string, Level>> = {
  accountMerge: 'high',
  allowTrust: 'low',
  bumpSequence: 'low',
  claimClaimableBalance: 'low',
  extendFootprintTtl: 'low',
  inflation: 'low',
  restoreFootprint: 'low',
  setTrustLineFlags: 'low',
};

/**
 * Which account's signatures weigh too little for what is done in its name, so that no ledger takes the envelope;
 * undefined where all weigh enough.
 * @param authorities of the accounts that exist; an account that an operation makes needs only its own key
 */
export function signatureWeightFault(
  envelope: Envelope,
  passphrase: string,
  authorities: ReadonlyMap<string, SigningAuthority>,
): string | undefined {
  const { transaction, signatures } = envelope;
  const source = accountOfMuxed(transaction.sourceAccount);
  const digest = transactionHash(transaction, passphrase);
  const needs: [string, Level][] = [[source, 'low']];
  for (const { body, sourceAccount } of transaction.operations) {
    needs.push([sourceAccount === null ? source : accountOfMuxed(sourceAccount), levelOf(body)]);
  }
  for (const [address, level] of needs) {
    const { weight, needed } = weighed(authorities.get(address) ?? ownKeyOnly(address), level, (key) =>
      hasSigned(key, digest, signatures),
    );
    if (weight < needed) return `The signatures of ${address} weigh ${weight}, and ${needed} is needed`;
  }
  return undefined;
}

/** The accounts beside the relayer's in whose name a transaction acts. */
export function otherSources({ operations }: Pick<TransactionDraft, 'operations'>, relayer: string): string[] {
  const sources = operations.flatMap(({ sourceAccount }) =>
    sourceAccount === null ? [] : [accountOfMuxed(sourceAccount)],
  );
  return [...new Set(sources)].filter((address) => address !== relayer);
}

/**
 * Why no ledger takes a transaction that only the relayer signs: it acts in the name of an account for which the
 * relayer's signature weighs too little. Undefined where it weighs enough.
 */
export function relayerWeightFault(
  { operations }: Pick<TransactionDraft, 'operations'>,
  relayer: string,
  authorities: ReadonlyMap<string, SigningAuthority>,
): string | undefined {
  const own = StrKey.decodeEd25519PublicKey(relayer);
  const isOwn = (key: xdr.SignerKey) =>
    key.type === 'signerKeyTypeEd25519' && Buffer.from(own).equals(key.ed25519.toBytes());
  for (const [place, { body, sourceAccount }] of operations.entries()) {
    const address = sourceAccount === null ? relayer : accountOfMuxed(sourceAccount);
    if (address === relayer) continue;
    const { weight, needed } = weighed(authorities.get(address) ?? ownKeyOnly(address), levelOf(body), isOwn);
    if (weight < needed) {
      return `operations.${place}: it acts in the name of ${address}, and only the relayer signs; have ${address} sign too, and send it with fee_bump`;
    }
  }
  return undefined;
}

/** What signatures weigh for an account, and what is needed. */
function weighed(
  { signers, thresholds }: SigningAuthority,
  level: Level,
  isSigned: (key: xdr.SignerKey) => boolean,
): { weight: number; needed: number } {
  const weight = signers.filter(({ key }) => isSigned(key)).reduce((sum, one) => sum + one.weight, 0);
  // At least one signature is needed, even where the threshold is zero.
  return { weight, needed: Math.max(thresholds[level], 1) };
}

function levelOf(body: xdr.OperationBody): Level {
  if (body.type === 'setOptions' && changesSigners(body.setOptionsOp)) return 'high';
  return LEVELS[body.type] ?? 'medium';
}

function ownKeyOnly(address: string): SigningAuthority {
  const key = xdr.SignerKey.signerKeyTypeEd25519(StrKey.decodeEd25519PublicKey(address));
  return { signers: [{ key, weight: 1 }], thresholds: { low: 0, medium: 0, high: 0 } };
}

function hasSigned(key: xdr.SignerKey, digest: Buffer, signatures: readonly xdr.DecoratedSignature[]): boolean {
  switch (key.type) {
    case 'signerKeyTypePreAuthTx':
      return digest.equals(key.preAuthTx.toBytes());
    case 'signerKeyTypeHashX': {
      const wanted = key.hashX.toBytes();
      return signatures.some(({ signature }) => hash('sha256', signature.toBytes(), 'buffer').equals(wanted));
    }
    case 'signerKeyTypeEd25519':
      return isIn(signatures, key.ed25519.toBytes(), digest);
    case 'signerKeyTypeEd25519SignedPayload': {
      const { ed25519, payload } = key.ed25519SignedPayload;
      return isIn(signatures, ed25519.toBytes(), Buffer.from(payload));
    }
  }
}

function isIn(signatures: readonly xdr.DecoratedSignature[], key: Uint8Array, message: Buffer): boolean {
  const signer = Keypair.fromPublicKey(StrKey.encodeEd25519PublicKey(key));
  return signatures.some(({ signature }) => signer.verify(message, signature.toBytes()));
}

/**
 * Which account's signature is wrong; undefined where no signature is known to be. Only signatures by the own keys of
 * accounts that the envelope names are checked. They show whether they were made for this network's passphrase.
 */
export function invalidSignature({ transaction, signatures }: Envelope, passphrase: string): string | undefined {
  const hash = transactionHash(transaction, passphrase);
  const accounts = [transaction.sourceAccount, ...transaction.operations.flatMap((one) => one.sourceAccount ?? [])];
  for (const address of new Set(accounts.map(accountOfMuxed))) {
    const key = Keypair.fromPublicKey(address);
    const hint = Buffer.from(key.signatureHint());
    const own = signatures.filter((one) => hint.equals(one.hint.toBytes()));
    if (own.length > 0 && !own.some(({ signature }) => key.verify(hash, signature.toBytes()))) {
      return `The signature of ${address} is wrong, or made for another network than '${passphrase}'`;
    }
  }
  return undefined;
}

/** Whether the own key of an account has signed an envelope for a network. */
export function isSignedBy({ transaction, signatures }: Envelope, address: string, passphrase: string): boolean {
  const key = Keypair.fromPublicKey(address);
  const hash = transactionHash(transaction, passphrase);
  return signatures.some(({ signature }) => key.verify(hash, signature.toBytes()));
}
