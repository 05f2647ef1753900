import { xdr } from '@stellar/stellar-sdk';
import { addressOf } from '../../ledger/address.ts';
import type { ContractFunction, Host } from '../host.ts';
import { CONTRACT_ERRORS, contractError } from '../host-error.ts';
import { instanceValue } from '../instance.ts';
import { ledgerKey } from '../storage.ts';
import { read, value } from '../values.ts';

/** The balances of a token's owners. */
export interface Balances {
  of(host: Host, token: string, owner: string): bigint;
  /** @throws HostError if the owner cannot send or hold this amount */
  add(host: Host, token: string, owner: string, delta: bigint): void;
  /** Undefined for a token without an issuer. */
  issuer(host: Host, token: string): string | undefined;
}

/** In ledgers. A use of the contract with less than six days left extends its instance to a week. */
const WEEK = { threshold: 103_680, to: 120_960 };

/** The functions of a token (SEP-41), for any kind of balances. */
export function tokenFunctions(balances: Balances): Readonly<Record<string, ContractFunction>> {
  const move = (host: Host, token: string, from: string, to: string, amount: bigint) => {
    balances.add(host, token, from, -amount);
    balances.add(host, token, to, amount);
  };
  const used = (host: Host, token: string) => host.storage.extend(ledgerKey.instance(token), WEEK.threshold, WEEK.to);
  return {
    balance(host, token, [owner]) {
      used(host, token);
      return value.i128(balances.of(host, token, read.address(owner)));
    },
    transfer(host, token, [given, to, amountGiven]) {
      const [from, amount] = [read.address(given), amountIn(amountGiven)];
      host.requireAuth(from);
      used(host, token);
      const target = targetIn(to);
      move(host, token, from, target.address, amount);
      tellTransfer(host, token, balances.issuer(host, token), { from, ...target, amount });
      return value.void();
    },
    transfer_from(host, token, [spenderGiven, fromGiven, toGiven, amountGiven]) {
      const [spender, from, to] = [spenderGiven, fromGiven, toGiven].map(read.address) as [string, string, string];
      const amount = amountIn(amountGiven);
      host.requireAuth(spender);
      used(host, token);
      spendAllowance(host, token, from, spender, amount);
      move(host, token, from, to, amount);
      tellTransfer(host, token, balances.issuer(host, token), { from, address: to, amount });
      return value.void();
    },
    approve(host, token, [fromGiven, spenderGiven, amountGiven, untilGiven]) {
      const [from, spender, amount] = [read.address(fromGiven), read.address(spenderGiven), amountIn(amountGiven)];
      const until = read.u32(untilGiven);
      host.requireAuth(from);
      used(host, token);
      if (amount > 0n && until < host.header.sequence) {
        throw contractError(CONTRACT_ERRORS.allowance, 'live_until is less than ledger seq');
      }
      setAllowance(host, token, from, spender, amount, until);
      const topics = [value.symbol('approve'), value.address(from), value.address(spender), nameOf(host, token)];
      host.emit(topics, value.vec(value.i128(amount), value.u32(until)));
      return value.void();
    },
    allowance(host, token, [from, spender]) {
      used(host, token);
      return value.i128(allowanceOf(host, token, read.address(from), read.address(spender)).amount);
    },
    mint(host, token, [toGiven, amountGiven]) {
      const [to, amount] = [read.address(toGiven), amountIn(amountGiven)];
      host.requireAuth(adminOf(host, token));
      used(host, token);
      balances.add(host, token, to, amount);
      host.emit([value.symbol('mint'), value.address(to), nameOf(host, token)], value.i128(amount));
      return value.void();
    },
    burn(host, token, [fromGiven, amountGiven]) {
      const [from, amount] = [read.address(fromGiven), amountIn(amountGiven)];
      adminOf(host, token);
      host.requireAuth(from);
      used(host, token);
      balances.add(host, token, from, -amount);
      host.emit([value.symbol('burn'), value.address(from), nameOf(host, token)], value.i128(amount));
      return value.void();
    },
    admin: (host, token) => value.address(adminOf(host, token)),
    decimals: (host, token) => read.field(metadataOf(host, token), 'decimal'),
    name: (host, token) => read.field(metadataOf(host, token), 'name'),
    symbol: (host, token) => read.field(metadataOf(host, token), 'symbol'),
  };
}

function amountIn(given: xdr.ScVal | undefined): bigint {
  const amount = read.i128(given);
  if (amount < 0n) {
    throw contractError(CONTRACT_ERRORS.negativeAmount, 'negative amount is not allowed', value.i128(amount));
  }
  return amount;
}

/** The receiver of a transfer. It can be an account with the number of a customer (CAP-67). */
function targetIn(given: xdr.ScVal | undefined): { address: string; customer?: bigint } {
  if (given?.type !== 'scvAddress' || given.address.type !== 'scAddressTypeMuxedAccount') {
    return { address: read.address(given) };
  }
  const { id, ed25519 } = given.address.muxedAccount;
  const account = xdr.PublicKey.publicKeyTypeEd25519(ed25519);
  return { address: addressOf(xdr.ScAddress.scAddressTypeAccount(account)), customer: id };
}

interface Transfer {
  readonly from: string;
  readonly address: string;
  readonly customer?: bigint;
  readonly amount: bigint;
}

/** Emits the event of a transfer. From the issuer it is a mint, and to the issuer a burn. */
function tellTransfer(
  host: Host,
  token: string,
  issuer: string | undefined,
  { from, address, customer, amount }: Transfer,
): void {
  const name = nameOf(host, token);
  const told = value.i128(amount);
  const data = customer === undefined ? told : value.struct({ amount: told, to_muxed_id: xdr.ScVal.scvU64(customer) });
  if (from !== address && from === issuer) host.emit([value.symbol('mint'), value.address(address), name], data);
  else if (from !== address && address === issuer) host.emit([value.symbol('burn'), value.address(from), name], told);
  else host.emit([value.symbol('transfer'), value.address(from), value.address(address), name], data);
}

const nameOf = (host: Host, token: string): xdr.ScVal => read.field(metadataOf(host, token), 'name');

function metadataOf(host: Host, token: string): xdr.ScVal {
  const found = instanceValue(host.storage, token, 'METADATA');
  if (found === undefined) throw new Error(`${token} is no token.`);
  return found;
}

function adminOf(host: Host, token: string): string {
  const found = instanceValue(host.storage, token, 'Admin');
  if (found !== undefined) return read.address(found);
  throw contractError(CONTRACT_ERRORS.operationNotSupported, 'nobody administers the native asset');
}

function allowanceKey(from: string, spender: string): xdr.ScVal {
  const pair = value.struct({ from: value.address(from), spender: value.address(spender) });
  return value.vec(value.symbol('Allowance'), pair);
}

function allowanceOf(host: Host, token: string, from: string, spender: string): { amount: bigint; until: number } {
  host.charge();
  const found = host.storage.data(token, allowanceKey(from, spender), 'temporary');
  if (found === undefined) return { amount: 0n, until: 0 };
  const until = read.u32(read.field(found, 'live_until_ledger'));
  return { amount: until < host.header.sequence ? 0n : read.i128(read.field(found, 'amount')), until };
}

function setAllowance(host: Host, token: string, from: string, spender: string, amount: bigint, until: number): void {
  host.charge();
  const kept = value.struct({ amount: value.i128(amount), live_until_ledger: value.u32(until) });
  host.storage.putData(token, allowanceKey(from, spender), 'temporary', kept, until);
}

function spendAllowance(host: Host, token: string, from: string, spender: string, amount: bigint): void {
  const { amount: allowed, until } = allowanceOf(host, token, from, spender);
  if (allowed < amount) {
    const data = [value.i128(allowed), value.i128(amount)];
    throw contractError(CONTRACT_ERRORS.allowance, 'not enough allowance to spend', ...data);
  }
  if (amount > 0n) setAllowance(host, token, from, spender, allowed - amount, until);
}
