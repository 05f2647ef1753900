/** The reference page of the context matches the types for plugin authors, member by member. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { ROOT } from '../../sandbox/test/support/sandbox.ts';
import { holdPage } from '../support/pages/held-page.ts';

const read = (name: string) => readFileSync(join(ROOT, 'sandbox', 'guest', name), 'utf8');
/** The web types that the page shows. It leaves out the other ones, which standards describe. */
const WEB = ['fetch', 'RequestInit', 'Response', 'Body'];

const HEAD = `# The context of a plugin

What \`handler(context)\` is given, and what it leads to: each member with its type. \`fetch\` is a global; what else of the
web is there has [a page of its own](web-apis.md), [the guide](plugins.md) says how it all goes together. The page is made
of the types that authors get, and held by a test: \`ISOLAYER_WRITE_PAGES=1 npm test --
test/integration/context-page.test.ts\`.
`;

/** The declarations that the page starts with. Types that they mention follow, if these may be shown. */
const FIRST = ['PluginContext', 'fetch', 'pluginError'];

type Shown = ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.FunctionDeclaration;

/**
 * Makes the page on the context. Also returns the names without a description.
 * @param texts the files with the types
 * @param isShown which of their declarations have a place on the page
 */
function contextPage(texts: readonly string[], isShown = (_name: string) => true) {
  const declared = new Map<string, Shown>();
  for (const text of texts) {
    ts.forEachChild(ts.createSourceFile('types.ts', text, ts.ScriptTarget.Latest, true), (node) => {
      const isOne =
        ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isFunctionDeclaration(node);
      if (isOne && node.name !== undefined && isShown(node.name.text)) declared.set(node.name.text, node);
    });
  }
  const names: string[] = [];
  const add = (name: string): void => {
    const node = declared.get(name);
    if (node === undefined || names.includes(name)) return;
    names.push(name);
    for (const mentioned of mentionedBy(node)) add(mentioned);
  };
  for (const name of FIRST) add(name);
  const undescribed: string[] = [];
  const described = (node: ts.Node, name: string) => {
    const text = docOf(node);
    if (text === '') undescribed.push(name);
    return text;
  };
  const sections = names.map((name) => {
    const node = declared.get(name) as Shown;
    const about = described(node, name);
    if (!ts.isInterfaceDeclaration(node)) return `## ${name}\n\n${about}\n\n\`\`\`ts\n${codeOf(node)}\n\`\`\``;
    const rows = node.members.map((member) => {
      const signature = codeOf(member).replace(/;$/, '');
      return `| ${cell(`\`${signature}\``)} | ${cell(described(member, `${name}: ${signature}`))} |`;
    });
    return `## ${name}\n\n${about}\n\n| member | what it is |\n| --- | --- |\n${rows.join('\n')}`;
  });
  return { page: `${[HEAD.trim(), ...sections].join('\n\n')}\n`, undescribed, names };
}

/** The names in the types of a declaration, in order. */
function mentionedBy(root: Shown): string[] {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isTypeReferenceNode(node)) found.add(node.typeName.getText());
    if (ts.isExpressionWithTypeArguments(node)) found.add(node.expression.getText());
    ts.forEachChild(node, visit);
  };
  visit(root);
  return [...found];
}

/** The docstring of a declaration, on one line. */
function docOf(node: ts.Node): string {
  const docs = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  return docs
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** The code of a declaration on one line, without comments. Leaves out the body of a function. */
function codeOf(node: ts.Node): string {
  const text = node.getText();
  const end =
    ts.isFunctionDeclaration(node) && node.body !== undefined ? node.body.getStart() - node.getStart() : text.length;
  return text
    .slice(0, end)
    .replace(/^export |^declare /, '')
    .replace(/=\s+\|/, '=')
    .replaceAll(/\/\/.*/g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\( | (?=\))|,(?= ?\))/g, (one) => one.trim().replace(',', ''))
    .trim();
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

t.test('the page is that of the types, and says something of each member', (t) => {
  const own = [read('plugin-api.ts'), read('sdk/capabilities.ts')];
  const models = read('sdk/network-models.ts');
  const exported = (texts: readonly string[]) =>
    [...texts.join('\n').matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name = '']) => name);
  const shown = [...exported([...own, models]), ...WEB, 'pluginError'];
  const texts = [...own, models, read('modules/relayer-sdk.ts'), read('types/web.d.ts')];
  const { page, undescribed, names } = contextPage(texts, (name) => shown.includes(name));
  t.strictSame(undescribed, []);
  t.strictSame(
    exported(own).filter((name) => !names.includes(name)),
    ['CapabilityContract'],
    'nothing of the types is left out',
  );
  holdPage(t, 'plugin-context.md', page);
  t.end();
});
