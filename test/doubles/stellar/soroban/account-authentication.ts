import { StrKey, type xdr } from '@stellar/stellar-sdk';
import { masterKeyOf } from '../ledger/address.ts';
import type { AccountEntry, AccountId } from '../ledger/entry.ts';
import { verifyEd25519 } from '../transactions/signature-checker.ts';
import { CONTRACT_ERRORS, contractError, hostError } from './host-error.ts';
import { ledgerKey, type Storage } from './storage.ts';
import { read } from './values.ts';

const MAX_SIGNATURES = 20;

/** Whether an account's signers reach its medium threshold over a payload. @throws HostError if not */
export function authenticateAccount(storage: Storage, id: AccountId, payload: Buffer, signature: xdr.ScVal): void {
  const refuse = (message: string) => contractError(CONTRACT_ERRORS.authentication, message);
  const signatures = read.vec(signature);
  if (signatures.length > MAX_SIGNATURES) throw refuse('too many account signers');
  if (signatures.length === 0) throw refuse('no account signatures found');
  const account = storage.get(ledgerKey.account(id)) as AccountEntry | undefined;
  if (account === undefined) throw contractError(CONTRACT_ERRORS.accountMissing, 'account entry is missing');
  let previous: Buffer | undefined;
  let weight = 0;
  for (const one of signatures) {
    const key = Buffer.from(read.bytes(read.field(one, 'public_key')));
    if (previous !== undefined && Buffer.compare(previous, key) >= 0) throw refuse('public keys are not ordered');
    previous = key;
    if (!verifyEd25519(key, payload, read.bytes(read.field(one, 'signature')))) {
      throw hostError('Crypto', 'InvalidInput', 'failed ED25519 verification');
    }
    const own = weightOf(account, key);
    if (own === 0) throw refuse('signer does not belong to account');
    weight += own;
  }
  if (weight < account.thresholds.medium) throw refuse('signature weight is lower than threshold');
}

function weightOf(account: AccountEntry, key: Buffer): number {
  if (StrKey.encodeEd25519PublicKey(key) === account.id) return account.thresholds.master;
  const name = masterKeyOf(StrKey.encodeEd25519PublicKey(key)).toXdr('base64');
  return account.signers.find((signer) => signer.key === name)?.weight ?? 0;
}
