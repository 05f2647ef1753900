import { Keypair } from '@stellar/stellar-sdk/base';
import { hashOf } from '../message/transaction.ts';
import { accountOf, type Envelope } from '../message/transaction-envelope.ts';

/**
 * Which account's signature is wrong; undefined where none shows to be. A signature by the own key of an account that the
 * envelope names tells by which network's passphrase it was made; of other keys nothing is known here.
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
