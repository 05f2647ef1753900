/**
 * Threat: a plugin with the right to send spends more than its operator allows: by many calls at once, on several
 * instances, or in a way that is not counted.
 */
import t, { type Test } from 'tap';
import { LIMIT, openBudgets, pay, receiverOf, UNIT, untilNothingIsOpen } from '../support/budget-stage.ts';
import { startPostgres } from '../support/postgres.ts';
import type { AnswerBody } from '../support/service.ts';

function assertRace(t: Test, answers: { status: number; body: AnswerBody }[]): void {
  const refused = answers.filter(({ status }) => status !== 200);
  t.equal(answers.length - refused.length, 10);
  for (const { status, body } of refused) {
    t.equal(status, 403);
    t.match(body.data, {
      code: 'BUDGET_SPENT',
      details: { rule: 'value_per_hour', asked: UNIT.toString(), limit: LIMIT.toString(), remaining: '0' },
    });
    t.match(
      body.error,
      /^Relayer error: Plugin race has 0 wei left of value_per_hour 10000000000000000 of relayer local-1/,
    );
  }
}

t.test('on the embedded database', async (t) => {
  const world = await openBudgets(t);
  const service = await world.compose();

  await t.test('of a hundred calls at once that each send a tenth of the limit, ten are accepted', async (t) => {
    const receiver = receiverOf(50);
    const answers = await Promise.all(Array.from({ length: 100 }, () => pay(service, 'race', receiver, UNIT)));
    assertRace(t, answers);
    await untilNothingIsOpen(service);
    t.equal(await world.paidTo(receiver), LIMIT);

    const { status, body } = await pay(service, 'race', receiver, 1n);
    t.equal(status, 403);
    t.match(body.data.details, { asked: '1', remaining: '0' });
    t.equal((await pay(service, 'race', receiver, 0n)).status, 200, 'what moves nothing is not held up');
  });

  await t.test('what one request may be is told from the request', async (t) => {
    const ask = async (request: object) => (await service.call('narrow', request)).body.data;
    const [to, other] = [receiverOf(100), receiverOf(101)];
    const argument = '00'.repeat(64);
    t.match(await ask({ to, value: 5 }), { id: String });
    t.match(
      await ask({ to: to.toUpperCase().replace('X', 'x'), value: 1, data: `0xA9059CBB${argument}`, gas_limit: 60_000 }),
      { id: String },
    );
    const refused = { code: 'GRANT_EXCEEDED' };
    t.match(await ask({ to: other, value: 1 }), { ...refused, details: { rule: 'recipients', asked: other } });
    t.match(await ask({ to, value: 6 }), { ...refused, details: { rule: 'value_per_call', asked: '6', limit: '5' } });
    const approve = { to, value: 0, data: `0x095ea7b3${argument}`, gas_limit: 60_000 };
    t.match(await ask(approve), { ...refused, details: { rule: 'selectors', asked: '0x095ea7b3' } });
    t.match(await ask({ value: 0, data: '0x00', gas_limit: 100_000 }), { ...refused, details: { rule: 'recipients' } });
    t.equal(await world.paidTo(other), 0n);
  });

  await t.test('no other way leads past the limits', async (t) => {
    const sign = { nonce: 0, to: receiverOf(102), value: 1, gas_limit: 21_000, gas_price: 10 ** 10 };
    t.match(
      (await service.call('other', { sign })).body.error,
      /may not sign with relayer local-1: its grant has value_per_hour/,
    );
    const rpc = { jsonrpc: '2.0', id: 1, params: [receiverOf(104), '0x64'] };
    for (const method of ['eth_sendRawTransaction', 'anvil_setBalance', 'anvil_impersonateAccount', 'debug_setHead']) {
      const { error } = (await service.call('other', { rpc: { ...rpc, method } })).body;
      t.match(error, /may not ask a node to act through relayer local-1/, method);
    }
    t.equal(await world.paidTo(receiverOf(104)), 0n);
    t.match((await service.call('other', { rpc: { ...rpc, method: 'eth_chainId', params: [] } })).body.data, {
      result: '0x7a69',
    });
  });

  await t.test('what a fee can be is reserved before anything is signed', async (t) => {
    const explicit = await service.call('costly', {
      to: receiverOf(103),
      value: 1,

      gas_price: 10 ** 10,
    });
    t.match(explicit.body.data, {
      code: 'BUDGET_SPENT',
      details: { rule: 'fee_per_hour', limit: '1', remaining: '1' },
    });
    const { body } = await service.call('costly', { to: receiverOf(103), value: 1 });
    const path = `/api/v1/relayers/local-1/transactions/${body.data.id}`;
    const end = Date.now() + 15_000;
    let found = await service.request('GET', path);
    while (found.body.data.status_reason === null && Date.now() < end) found = await service.request('GET', path);
    t.match(found.body.data, { status: 'pending', nonce: null });
    const reason = /^Plugin costly has 1 left of fee_per_hour 1, and the fee can be \d+ more \(checked again at .*\)$/;
    t.match(found.body.data.status_reason, reason);
    await service.request('DELETE', path);
    t.equal(await world.paidTo(receiverOf(103)), 0n);
  });
});

t.test('two instances on PostgreSQL share a budget', async (t) => {
  const postgres = await startPostgres();
  t.teardown(() => postgres.stop());
  const world = await openBudgets(t, {
    DATABASE_URL: await postgres.createDatabase(),
    STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    API_KEY: 'the-same-key-on-every-instance-32-or-more',
    HOST: '127.0.0.1',
  });
  const [one, other] = await Promise.all([world.compose(), world.compose()]);
  const receiver = receiverOf(200);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => pay(index % 2 === 0 ? one : other, 'race', receiver, UNIT)),
  );
  assertRace(t, answers);
  await untilNothingIsOpen(other);
  t.equal(await world.paidTo(receiver), LIMIT);
  await one.stop();
  t.match((await pay(other, 'race', receiver, 1n)).body.data, { code: 'BUDGET_SPENT', details: { remaining: '0' } });
});
