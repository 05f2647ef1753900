import type { xdr } from '@stellar/stellar-sdk';
import type { Contract, Host } from '../host.ts';
import { contractError } from '../host-error.ts';
import { instanceValue, setInstanceValue } from '../instance.ts';
import { read, value } from '../values.ts';

/** Soroswap's error codes. */
const ERRORS = { deadline: 503, insufficientOutput: 507, noPair: 510 } as const;

/**
 * A market that trades one token for another at a fixed price, from its own balance. The constructor takes both tokens,
 * and the price of the first in the second as numerator and denominator.
 */
export const router: Contract = {
  functions: {
    __constructor(host, self, args) {
      setInstanceValue(host.storage, self, 'Pair', value.vec(...args));
      return value.void();
    },
    router_get_amounts_out(host, self, [amount, path]) {
      const [sold, bought] = read.vec(path).map(read.address);
      const given = read.i128(amount);
      return value.vec(value.i128(given), value.i128(outOf(host, self, String(sold), String(bought), given)));
    },
    swap_exact_tokens_for_tokens(host, self, [amount, least, path, to, deadline]) {
      const [sold = '', bought = ''] = read.vec(path).map(read.address);
      const [given, owner] = [read.i128(amount), read.address(to)];
      host.requireAuth(owner);
      if (timeIn(deadline) < host.header.closeTime) throw contractError(ERRORS.deadline, 'deadline expired');
      const taken = outOf(host, self, sold, bought, given);
      if (taken < read.i128(least)) throw contractError(ERRORS.insufficientOutput, 'insufficient output amount');
      const here = value.address(self);
      host.call(sold, 'transfer', [value.address(owner), here, value.i128(given)]);
      host.call(bought, 'transfer', [here, value.address(owner), value.i128(taken)]);
      return value.vec(value.i128(given), value.i128(taken));
    },
  },
};

function outOf(host: Host, self: string, sold: string, bought: string, amount: bigint): bigint {
  host.charge();
  const [first, second, n, d] = read.vec(instanceValue(host.storage, self, 'Pair'));
  const [one, other] = [read.address(first), read.address(second)];
  if (sold === one && bought === other) return (amount * read.i128(n)) / read.i128(d);
  if (sold === other && bought === one) return (amount * read.i128(d)) / read.i128(n);
  throw contractError(ERRORS.noPair, 'pair does not exist');
}

function timeIn(given: xdr.ScVal | undefined): bigint {
  return given?.type === 'scvU64' ? given.u64 : 0n;
}
