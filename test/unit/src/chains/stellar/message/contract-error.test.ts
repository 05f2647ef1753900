import t from 'tap';
import { errorValueOf } from '../../../../../../src/chains/stellar/message/contract-error.ts';

t.test('an error has one kind and a code of it', (t) => {
  t.match(errorValueOf({ contract: 7 }), { type: 'sceContract', contractCode: 7 });
  t.match(errorValueOf({ auth: 'invalid_action' }), { type: 'sceAuth', code: { name: 'scecInvalidAction' } });
  for (const kind of ['wasm_vm', 'context', 'storage', 'object', 'crypto', 'events', 'budget', 'value']) {
    const pascal = kind.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
    t.match(errorValueOf({ [kind]: 'internal_error' }), { type: `sce${pascal}` });
  }
  t.throws(() => errorValueOf({ auth: 'toString' }), { path: ['auth'], message: /^expected one of arith_domain/ });
  t.throws(() => errorValueOf({ auth: 1 }), { name: 'ValueFault', path: ['auth'] });
  t.throws(() => errorValueOf({ toString: 1 }), { message: /^expected one of contract, wasm_vm/ });
  t.throws(() => errorValueOf({ contract: 2 ** 32 }), { name: 'ValueFault', path: ['contract'] });
  for (const none of [{}, { contract: 1, auth: 'invalid_action' }, 'contract', null]) {
    t.throws(() => errorValueOf(none), { message: 'expected one kind of error' });
  }
  t.end();
});
