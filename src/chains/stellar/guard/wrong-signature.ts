import { Keypair } from '@stellar/stellar-sdk/base';
import { hashOf } from '../message/transaction.ts';
import { accountOf, type Envelope } from '../message/transaction-envelope.ts';

/**
 * Which account's signature is wrong; undefined where no signature is known to be. Only signatures by the own keys of
 * accounts that the envelope names are checked. They show whether they were made for this network's passphrase.
 */
export function wrongSignature({ transaction, signatures }: Envelope, passphrase: string): string | undefined {
  const hash = hashOf(transaction, passphrase);
  const accounts = [transaction.sourceAccount, ...transaction.operations.flatMap((one) => one.sourceAccount ?? [])];
  for (const address of new Set(accounts.map(accountOf))) {
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
  const hash = hashOf(transaction, passphrase);
  return signatures.some(({ signature }) => key.verify(hash, signature.toBytes()));
}
