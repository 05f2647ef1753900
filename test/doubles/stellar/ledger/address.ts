import { Address, Keypair, StrKey, xdr } from '@stellar/stellar-sdk';
import type { AccountId } from './entry.ts';

export function accountXdr(id: AccountId): xdr.PublicKey {
  return Keypair.fromPublicKey(id).xdrAccountId();
}

export function accountIdOf(key: xdr.PublicKey): AccountId {
  return StrKey.encodeEd25519PublicKey(key.ed25519.toBytes());
}

/** The account of a `G…` or `M…` address. */
export function accountOfMuxed(account: xdr.MuxedAccount): AccountId {
  const key = account.type === 'keyTypeEd25519' ? account.ed25519 : account.med25519.ed25519;
  return StrKey.encodeEd25519PublicKey(key.toBytes());
}

/** An address as a strkey: `G…`, `C…` or another form. */
export function addressOf(address: xdr.ScAddress): string {
  return Address.fromScAddress(address).toString();
}

export function addressXdr(address: string): xdr.ScAddress {
  return Address.fromString(address).toScAddress();
}

/** The account's own key as a signer key. */
export function masterKeyOf(id: AccountId): xdr.SignerKey {
  return xdr.SignerKey.signerKeyTypeEd25519(StrKey.decodeEd25519PublicKey(id));
}
