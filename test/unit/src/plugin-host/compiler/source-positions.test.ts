import t from 'tap';
import { sourcePositions } from '../../../../../src/plugin-host/compiler/source-positions.ts';

/** Line 2, column 3 of the bundle is line 5, column 9 of `lib/b.ts`; nothing else is mapped. */
const map = JSON.stringify({ version: 3, sources: ['a.ts', 'lib/b.ts'], names: [], mappings: ';ECIQ' });
const positions = sourcePositions('plugins/a.ts', map, 'plugins');

t.test('frames of the bundle name the author’s file, others stay', async (t) => {
  const stack = 'Error: x\n    at f (plugins/a.ts:2:3)\n    at async plugins/a.ts:2:3\n    at Array.map (<anonymous>)';
  t.equal(
    positions.mapped(stack),
    'Error: x\n    at f (plugins/lib/b.ts:5:9)\n    at async plugins/lib/b.ts:5:9\n    at Array.map (<anonymous>)',
  );
  t.equal(
    positions.mapped('    at eval (eval at f (plugins/a.ts:2:3), <anonymous>:1:1)'),
    '    at eval (eval at f (plugins/lib/b.ts:5:9), <anonymous>:1:1)',
  );
});

t.test('text that is no frame stays; frames of the runtime and of the bundler do not', async (t) => {
  t.equal(positions.mapped('see plugins/a.ts:2:3'), 'see plugins/a.ts:2:3');
  t.equal(positions.mapped('nothing'), 'nothing');
  const stack = 'Error: x\n    at f (plugins/a.ts:1:1)\n    at invoke (isolayer:5:9730)\n    at isolayer:1:1\nat last';
  t.equal(positions.mapped(stack), 'Error: x\nat last');
});

t.test('a map that was too large to be kept is missed below the stack', async (t) => {
  const large = sourcePositions('plugins/a.ts', null, 'plugins');
  t.match(
    large.mapped('Error: x\n    at f (plugins/a.ts:2:3)'),
    /^Error: x\n    at f \(plugins\/a\.ts:2:3\)\n.*source map is too large/,
  );
  t.equal(large.mapped('see plugins/a.ts:2:3'), 'see plugins/a.ts:2:3');
});

t.test('of a text full of frames a part is looked up', async (t) => {
  const text = positions.mapped('    at plugins/a.ts:2:3\n'.repeat(5000));
  t.equal(text.split('plugins/lib/b.ts:5:9').length - 1, 1000);
  t.equal(text.split('plugins/a.ts:2:3').length - 1, 4000);
});
