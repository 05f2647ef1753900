import t from 'tap';
import { unavailableParts, unavailableSending } from '../../../../src/chains/unavailable.ts';

t.test('every act of sending is refused in one way', async (t) => {
  for (const [act, refusing] of Object.entries<unknown>({ ...unavailableParts('solana') })) {
    t.throws(
      refusing as () => unknown,
      { message: 'Sending transactions is not available yet for solana relayers' },
      act,
    );
  }
  const { noopRequest, signTransaction, ...sending } = unavailableSending('solana');
  t.strictSame(Object.keys(sending).sort(), ['broadcast', 'observe', 'prepare', 'sign']);
  const refusals: [unknown, string][] = [
    ...Object.values(sending).map((one): [unknown, string] => [one, 'Sending']),
    [signTransaction, 'Signing'],
  ];
  for (const [refusing, what] of refusals) {
    await t.rejects((refusing as () => Promise<unknown>)(), {
      code: 'NOT_AVAILABLE_YET',
      status: 501,
      message: `${what} transactions is not available yet for solana relayers`,
    });
  }
  t.throws(() => noopRequest({ address: '', policies: {} }), { code: 'NOT_AVAILABLE_YET' });
});
