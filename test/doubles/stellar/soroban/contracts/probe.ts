import type { Contract } from '../host.ts';
import { contractError } from '../host-error.ts';
import { read, value } from '../values.ts';

const COUNT = value.symbol('COUNT');

/** A contract for tests: it counts, calls other contracts, fails, and wastes instructions. */
export const probe: Contract = {
  functions: {
    /** Returns the count. */
    count: (host, self) => host.storage.data(self, COUNT, 'persistent') ?? value.u32(0),
    /** Adds to the count, with the address's authorization. */
    add(host, self, [who, by]) {
      host.requireAuth(read.address(who));
      host.charge();
      const now = read.u32(host.storage.data(self, COUNT, 'persistent') ?? value.u32(0)) + read.u32(by);
      host.storage.putData(self, COUNT, 'persistent', value.u32(now));
      host.emit([value.symbol('added'), who ?? value.void()], value.u32(now));
      return value.u32(now);
    },
    /** Calls another contract. The address authorizes both calls. */
    call(host, _self, [who, contract, name, args]) {
      host.requireAuth(read.address(who));
      return host.call(read.address(contract), read.symbol(name), read.vec(args));
    },
    fail(_host, _self, [code]) {
      throw contractError(read.u32(code), 'escalating error to panic');
    },
    /** Uses this many more instructions. */
    waste(host, _self, [instructions]) {
      host.instructions += read.u32(instructions);
      return value.void();
    },
  },
};
