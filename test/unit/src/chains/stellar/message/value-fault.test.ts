import t from 'tap';
import { ValueFault, within } from '../../../../../../src/chains/stellar/message/value-fault.ts';

t.test('a fault is told from the outside', (t) => {
  const inside = () => within('b', () => within(0, () => fault('no')));
  t.throws(() => within('a', inside), { message: 'no', path: ['a', 'b', 0] });
  t.equal(
    within('a', () => 5),
    5,
  );
  const other = new Error('other');
  t.throws(() => within('a', () => thrown(other)), other, 'nothing else is touched');
  t.end();
});

function fault(message: string): never {
  throw new ValueFault(message);
}

function thrown(error: Error): never {
  throw error;
}
