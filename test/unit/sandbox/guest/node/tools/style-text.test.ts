import * as node from 'node:util';
import t from 'tap';
import { COLORS, styleText } from '../../../../../../sandbox/guest/node/tools/style-text.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

t.test('texts are styled as by Node, where that is asked for', async (t) => {
  const always = { validateStream: false };
  await sameAsNode(t, { styleText } as unknown as typeof node, node, {
    one: (module) => module.styleText('red', 'x', always),
    more: (module) => module.styleText(['bold', 'underline', 'bgBlue'], 'x', always),
    'no style': (module) => module.styleText([], 'x', always),
    'no text': (module) => module.styleText('red', 5 as never),
  });
  t.equal(styleText('red', 'x'), 'x', 'there is no terminal');
  t.throws(() => styleText('reddish', 'x'), { code: 'ERR_INVALID_ARG_VALUE' });
  for (const [name, codes] of Object.entries(COLORS))
    t.strictSame(codes, (node.inspect.colors as Record<string, unknown>)[name] ?? codes, name);
});
