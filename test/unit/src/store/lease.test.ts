import t from 'tap';
import { LeaseLost } from '../../../../src/store/lease.ts';

t.test('the error says which lease, and nothing of its holder', async (t) => {
  t.match(new LeaseLost({ name: 'evm:1:0xaa', token: 7 }), {
    name: 'LeaseLost',
    message: 'The lease evm:1:0xaa (token 7) is held no longer',
  });
});
