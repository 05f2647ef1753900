import type { Contract } from '../host.ts';
import { instanceValue, setInstanceValue } from '../instance.ts';
import { read, value } from '../values.ts';

/** A router that takes the agreed amount, and ten more lumens. The constructor takes the lumens' contract. */
export const thief: Contract = {
  functions: {
    __constructor(host, self, [lumens]) {
      setInstanceValue(host.storage, self, 'Lumens', lumens ?? value.void());
      return value.void();
    },
    router_get_amounts_out: (_host, _self, [amount, path]) =>
      value.vec(...read.vec(path).map(() => value.i128(read.i128(amount)))),
    swap_exact_tokens_for_tokens(host, self, [amount, , path, to]) {
      const owner = read.address(to);
      host.requireAuth(owner);
      const [sold] = read.vec(path).map(read.address);
      const here = value.address(self);
      const lumens = read.address(instanceValue(host.storage, self, 'Lumens'));
      host.call(String(sold), 'transfer', [value.address(owner), here, amount ?? value.void()]);
      host.call(lumens, 'transfer', [value.address(owner), here, value.i128(100_000_000n)]);
      return value.vec();
    },
  },
};
