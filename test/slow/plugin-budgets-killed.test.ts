/**
 * Threat: the server dies between the reservation of a limited plugin's budget and the payment. What was counted must
 * still count, and nothing may be paid without a reservation.
 */

import t from 'tap';
import { LIMIT, openBudgets, PROGRAMS, pay, receiverOf, UNIT, untilNothingIsOpen } from '../support/budget-stage.ts';
import { fc, runsOf } from '../support/properties.ts';

t.test('whatever a plugin sends, and whenever the server is killed, the limit holds on chain', async (t) => {
  const world = await openBudgets(t);
  let service = await world.start();
  const burst = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 12 });
  const step = fc.record({ burst, kill: fc.boolean(), afterMs: fc.integer({ min: 0, max: 40 }) });
  // The first step has no kill. If each payment were preceded by a kill, nothing would be paid.
  const first = { burst: [1], kill: false, afterMs: 0 };
  const last = fc.record({ burst, kill: fc.constant(true), afterMs: fc.integer({ min: 0, max: 40 }) });
  let program = 0;
  let all = 0n;
  const holds = async (steps: { burst: number[]; kill: boolean; afterMs: number }[]) => {
    const [plugin, receiver] = [`program-${program % PROGRAMS}`, receiverOf(program)];
    program += 1;
    let promised = 0n;
    for (const { burst: values, kill, afterMs } of [first, ...steps]) {
      const asked = values.map(async (value) => {
        const amount = BigInt(value) * UNIT;
        const answer = await pay(service, plugin, receiver, amount).catch(() => undefined);
        if (answer?.status === 200) promised += amount;
        const { code, details } = answer?.body.data ?? {};
        if (code === 'BUDGET_SPENT') t.ok(BigInt(details.asked) > BigInt(details.remaining), JSON.stringify(details));
      });
      if (kill) {
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        await service.kill();
        await Promise.all(asked);
        service = await world.start();
      }
      await Promise.all(asked);
      t.ok(promised <= LIMIT, `${promised} were promised`);
    }
    await untilNothingIsOpen(service);
    const paid = await world.paidTo(receiver);
    t.ok(paid <= LIMIT && paid >= promised, `${paid} were paid, ${promised} promised`);
    all += paid;
    const { details } = (await pay(service, plugin, receiver, LIMIT + 1n)).body.data;
    t.equal(BigInt(details.remaining), LIMIT - paid, 'no kill leaves anything counted that is not paid');
  };
  await fc.assert(fc.asyncProperty(fc.tuple(step, last), holds), {
    numRuns: runsOf(1),
    endOnFailure: true,
  });
  t.ok(all > 0n, 'something was paid');
});
