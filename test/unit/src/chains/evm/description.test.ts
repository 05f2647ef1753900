import t from 'tap';
import { createEvmChain } from '../../../../../src/chains/evm/index.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { storedTransaction } from '../../../../support/evm.ts';

const { description, policySchema, transactionView } = createEvmChain(systemClock);

t.test('each example is a body that is taken', (t) => {
  const { request, signing, policies } = description;
  for (const body of [request, signing.typedData, signing.transaction]) {
    t.ok(body?.schema.safeParse(body.example).success);
  }
  t.ok(policySchema.safeParse(policies).success);
  t.end();
});

t.test('a transaction is shown as it is described', (t) => {
  const account = { address: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', policies: {} };
  const shown = transactionView(storedTransaction(account, { to: account.address, value: 1, speed: 'fast' }));
  const parsed = description.transaction?.safeParse(JSON.parse(JSON.stringify(shown)));
  t.strictSame(parsed?.error?.issues ?? [], []);
  t.equal(parsed?.success, true);
  t.end();
});
