import t from 'tap';
import { positionInStack, sourcePositions } from '../../../../host/compiler/source-positions.ts';

/** Line 2, column 3 of the bundle is line 5, column 9 of `lib/b.ts`. Nothing else is mapped. */
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

t.test('frames of the runtime are left out; what an error carries stays behind its last frame', async (t) => {
  const late = 'isolayer:2:97';
  const stack = `Error: x\n    at new URL (${late})\n    at f (plugins/a.ts:2:3)\n    at eval (${late})`;
  const shown = 'Error: x\n    at f (plugins/lib/b.ts:5:9)';
  t.equal(
    positions.mapped(`${stack}\n    at invoke (isolayer:1:1) {"code":"X","a":{"b":1}}`),
    `${shown} {"code":"X","a":{"b":1}}`,
  );
  t.equal(positions.mapped(`Error: x\n    at ${late} {"a":1}`), 'Error: x {"a":1}');
  t.equal(
    positions.mapped('Error: x {"inner":Error: y\n    at invoke (isolayer:1:1)}\n    at f (plugins/a.ts:2:3)'),
    'Error: x {"inner":Error: y}\n    at f (plugins/lib/b.ts:5:9)',
  );
});

t.test('nothing shows where the service and its packages lie', async (t) => {
  const of = (source: string) =>
    sourcePositions('p.ts', JSON.stringify({ version: 3, sources: [source], names: [], mappings: 'AAAA' }), 'plugins');
  const frame = 'Error: x\n    at f (p.ts:1:1) {"code":1}';
  t.equal(of('../../srv/sandbox/guest/modules/relayer-sdk.ts').mapped(frame), 'Error: x {"code":1}');
  t.equal(of('../../srv/node_modules/a/i.js').mapped(frame), 'Error: x\n    at f (node_modules/a/i.js:1:1) {"code":1}');
  t.match(of('node_modules/a/i.js').mapped(frame), 'plugins/node_modules/a/i.js:1:1');
});

t.test('the place of an error is the first one in the author’s own files', async (t) => {
  const stack =
    'Error: x\n    at g (plugins/node_modules/a/i.js:1:1)\n    at async plugins/lib/b.ts:5:9 {"a":1}\n    at plugins/a.ts:1:1';
  t.strictSame(positionInStack(stack), { file: 'plugins/lib/b.ts', line: 5, column: 9 });
  t.equal(positionInStack('Error: x\n    at node_modules/a.ts:1:1'), undefined);
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
