import t from 'tap';
import { OwnRefusal } from '../../../../src/chains/own-method.ts';

t.test('a refusal has the code, the tag and the text that the answer shows', async (t) => {
  const cause = new Error('why');
  t.match(new OwnRefusal(-32_602, 'INVALID_PARAMS', 'no address', cause), {
    name: 'OwnRefusal',
    code: -32_602,
    tag: 'INVALID_PARAMS',
    message: 'no address',
    cause,
  });
});
