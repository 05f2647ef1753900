import t from 'tap';
import { create } from '../../../../../sandbox/guest/lazy/inspect.ts';

type Inspect = { (value: unknown): string; defaultOptions: { depth: number } };

t.test('the part makes what it stands for, and what a call sets for all holds for that call', (t) => {
  for (const isInCall of [false, true]) {
    let reset = () => {};
    const made = create({
      isInCall: () => isInCall,
      atCall: (given) => {
        reset = given;
      },
    });
    const inspect = made['inspect'] as Inspect;
    inspect.defaultOptions.depth = isInCall ? 2 : 3;
    if (!isInCall) reset();
    inspect.defaultOptions.depth = 9;
    reset();
    t.equal(inspect.defaultOptions.depth, 3, 'as the module left it');
  }
  t.end();
});
