import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { computeAddress, hexlify, Transaction, TypedDataEncoder, verifyMessage, verifyTypedData } from 'ethers';
import type { Test } from 'tap';
import { signMessage, signTypedData } from '../../../src/chains/evm/form/message.ts';
import { signUnsent } from '../../../src/chains/evm/form/sign-only.ts';
import { createChains } from '../../../src/chains/registry.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import type { NetworkType } from '../../../src/domain/network-type.ts';
import type { Curve, Signer, SignerKind } from '../../../src/signers/signer.ts';

/** What a signer does for each family of chains, judged by libraries that the product does not sign with. */

const chains = createChains(systemClock);

/** The families that a kind says that it signs for, on a curve. */
export function familiesOf({ notFor }: Pick<SignerKind, 'notFor'>, curve: Curve): NetworkType[] {
  const families = [...chains].filter(([, chain]) => chain.curve === curve).map(([family]) => family);
  return families.filter((family) => notFor?.[family] === undefined);
}

/** Address, message, typed data and transaction, as far as the family has them. */
export async function servesFamily(t: Test, family: NetworkType, signer: Signer, publicKey: Buffer): Promise<void> {
  if (family === 'evm') await servesEvm(t, signer, publicKey);
  else await servesEd25519(t, family, signer, publicKey);
}

async function servesEvm(t: Test, signer: Signer, publicKey: Buffer): Promise<void> {
  const address = computeAddress(hexlify(publicKey));
  const own = chains.get('evm')?.addressOf(await signer.publicKey('secp256k1')) ?? '';
  t.equal(own, address.toLowerCase());
  const account = { address: own, policies: {}, identity: '31337' };

  const message = await signMessage({ message: 'Grüße 😀' }, account, signer);
  t.equal(verifyMessage('Grüße 😀', `0x${String(message['sig'])}`), address);

  const domain = { name: 'Test', chainId: 31_337 };
  const types = { Vote: [{ name: 'choice', type: 'uint256' }] };
  const vote = { choice: '7' };
  const digests = {
    domain_separator: TypedDataEncoder.hashDomain(domain),
    hash_struct_message: TypedDataEncoder.hashStruct('Vote', types, vote),
  };
  const typed = await signTypedData(digests, account, signer);
  t.equal(verifyTypedData(domain, types, vote, `0x${String(typed['sig'])}`), address);

  const body = { to: `0x${'c'.repeat(40)}`, value: '1', nonce: 3, gas_limit: 21_000 };
  for (const price of [{ gas_price: '9' }, { max_fee_per_gas: '9', max_priority_fee_per_gas: '1' }]) {
    const signed = await signUnsent({ ...body, ...price }, account, signer, null);
    t.equal(Transaction.from(String(signed['transaction'])).from, address);
  }
}

async function servesEd25519(t: Test, family: NetworkType, signer: Signer, publicKey: Buffer): Promise<void> {
  const own = chains.get(family)?.addressOf(await signer.publicKey('ed25519'));
  if (family === 'solana') t.equal(own, new PublicKey(publicKey).toBase58());
  else t.match(own, /^G[A-Z2-7]{55}$/);
  // A Stellar transaction is signed by its hash, a Solana one by its message.
  const payload = family === 'solana' ? solanaMessage(publicKey) : randomBytes(32);
  t.ok(isSigned(publicKey, payload, await signer.sign('ed25519', payload)));
}

/** The bytes of a payment's message, with the given account as who pays the fee. */
export function solanaMessage(payer: Buffer): Buffer {
  const from = new PublicKey(payer);
  const message = new TransactionMessage({
    payerKey: from,
    recentBlockhash: new PublicKey(randomBytes(32)).toBase58(),
    instructions: [SystemProgram.transfer({ fromPubkey: from, toPubkey: new PublicKey(randomBytes(32)), lamports: 1 })],
  }).compileToV0Message();
  return Buffer.from(new VersionedTransaction(message).message.serialize());
}

/** Judged by OpenSSL. */
export function isSigned(publicKey: Buffer, message: Uint8Array, signature: Uint8Array): boolean {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') };
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature);
}
