import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';

/** A small fault in a function of the product, written so that it can be found again when the code has moved. */
export interface Mutant {
  /** The named function around it, with its class: `Lane.step`, `readForm`. */
  readonly name: string;
  readonly kind: string;
  /** The original text of what is replaced, with each run of white space as one space. */
  readonly text: string;
  /** The text that replaces it. */
  readonly replacement: string;
  readonly file: string;
  /** Which of several such places of the function it is, from 0. */
  readonly nth: number;
}

/** A mutant with its place in the tree of now. */
export interface Site extends Mutant {
  readonly start: number;
  readonly end: number;
}

const K = ts.SyntaxKind;
const FLIPPED = new Map([
  [K.LessThanToken, '>='],
  [K.GreaterThanToken, '<='],
  [K.LessThanEqualsToken, '>'],
  [K.GreaterThanEqualsToken, '<'],
  [K.EqualsEqualsEqualsToken, '!=='],
  [K.ExclamationEqualsEqualsToken, '==='],
]);
const BOUNDARY = new Map([
  [K.LessThanToken, '<='],
  [K.GreaterThanToken, '>='],
  [K.LessThanEqualsToken, '<'],
  [K.GreaterThanEqualsToken, '>'],
]);
const ARITHMETIC = new Map([
  [K.PlusToken, '-'],
  [K.MinusToken, '+'],
  [K.AsteriskToken, '+'],
  [K.SlashToken, '*'],
  [K.PercentToken, '+'],
]);
const LOGIC = new Map([
  [K.AmpersandAmpersandToken, '||'],
  [K.BarBarToken, '&&'],
]);
const OPERATORS = new Map([
  ['comparison flipped', FLIPPED],
  ['boundary moved', BOUNDARY],
  ['arithmetic operator', ARITHMETIC],
  ['and for or', LOGIC],
]);

/** Every mutant of the named functions in some folders of a tree. */
export function listSites(tree: string, folders: readonly string[]): Site[] {
  return folders
    .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: tree }).toSorted())
    .filter((file) => !file.endsWith('.test.ts') && !file.endsWith('.d.ts'))
    .flatMap((file) => sitesOf(file, readFileSync(join(tree, file), 'utf8')));
}

/**
 * Finds a mutant again. The function's name and the text decide; the class, and then the file's name, where several
 * have both. Of a renamed function the text is enough, of renamed variables the function's name and the text's shape, if
 * there is only one such place.
 */
export function findAgain(wanted: Mutant, sites: readonly Site[]): Site | undefined {
  const same = sites.filter(
    ({ kind, text, replacement }) => kind === wanted.kind && text === wanted.text && replacement === wanted.replacement,
  );
  const own = same.filter(({ name }) => lastOf(name) === lastOf(wanted.name));
  const byClass = own.filter(({ name }) => name === wanted.name);
  const byFile = (some: Site[]) => some.filter(({ file }) => file === wanted.file);
  const byBase = (some: Site[]) => some.filter(({ file }) => basename(file) === basename(wanted.file));
  for (const some of [byFile(byClass), byBase(byClass), byFile(own), byClass, own]) {
    if (some[0]) return some.find(({ nth }) => nth === wanted.nth) ?? some[0];
  }
  if (same.length === 1 && wanted.text.length > 12) return same[0];
  const alike = sites.filter(
    ({ name, kind, text, replacement }) =>
      kind === wanted.kind &&
      lastOf(name) === lastOf(wanted.name) &&
      shapeOf(text) === shapeOf(wanted.text) &&
      shapeOf(replacement) === shapeOf(wanted.replacement),
  );
  return alike.length === 1 ? alike[0] : undefined;
}

/** A text whatever its variables are called. */
function shapeOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[A-Za-z_$][\w$]*/g, 'x');
}

function lastOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function sitesOf(file: string, source: string): Site[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const found: Site[] = [];
  const visit = (node: ts.Node, name: string | undefined) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    const inside = nameOf(node) ?? name;
    if (inside !== undefined) {
      for (const { kind, replaced, replacement } of mutationsOf(node)) {
        const start = replaced.getStart();
        const end = replaced.getEnd();
        const text = source.slice(start, end).replaceAll(/\s+/g, ' ');
        const alike = found.filter((one) => one.name === inside && one.kind === kind && one.text === text);
        found.push({ name: inside, kind, text, replacement, file, nth: alike.length, start, end });
      }
    }
    node.forEachChild((child) => visit(child, inside));
  };
  visit(tree, undefined);
  return found;
}

/** The name of a function with a body, and of the class that it belongs to. */
function nameOf(node: ts.Node): string | undefined {
  if (ts.isFunctionDeclaration(node)) return node.name?.text;
  if (ts.isMethodDeclaration(node) || ts.isAccessor(node)) {
    const owner = ts.isClassLike(node.parent) ? node.parent.name?.text : undefined;
    return owner === undefined ? node.name.getText() : `${owner}.${node.name.getText()}`;
  }
  const isNamed = ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined;
  if (!isNamed || !(ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer)))
    return undefined;
  return node.name.getText();
}

interface Mutation {
  readonly kind: string;
  readonly replaced: ts.Node;
  readonly replacement: string;
}

function* mutationsOf(node: ts.Node): Generator<Mutation> {
  if (ts.isBinaryExpression(node)) yield* ofOperator(node);
  if (ts.isIfStatement(node) || ts.isWhileStatement(node)) yield negated(node.expression);
  if (ts.isConditionalExpression(node)) yield negated(node.condition);
  if (ts.isExpressionStatement(node) && !saysOnly(node)) {
    yield { kind: 'statement deleted', replaced: node, replacement: ';' };
  }
  if (ts.isStatement(node) && ts.isBlock(node.parent) && ts.isFunctionLike(node.parent.parent)) {
    const isFirst = node.parent.statements[0] === node;
    const isReturn = ts.isReturnStatement(node) || ts.isThrowStatement(node);
    if (!isFirst && !isReturn) yield { kind: 'return early', replaced: node, replacement: `return; ${node.getText()}` };
  }
  const isKey = ts.isPropertyAssignment(node.parent) && node.parent.name === node;
  if (ts.isNumericLiteral(node) && !isKey) yield constant(node, String(Number(node.text) + 1));
  if (ts.isBigIntLiteral(node)) yield constant(node, `${BigInt(node.text.replace(/n$/, '')) + 1n}n`);
  if (node.kind === K.TrueKeyword) yield constant(node, 'false');
  if (node.kind === K.FalseKeyword) yield constant(node, 'true');
}

function* ofOperator(node: ts.BinaryExpression): Generator<Mutation> {
  const { left, operatorToken, right } = node;
  for (const [kind, replacements] of OPERATORS) {
    const operator = replacements.get(operatorToken.kind);
    if (operator === undefined || (operatorToken.kind === K.PlusToken && (isText(left) || isText(right)))) continue;
    yield { kind, replaced: node, replacement: `${left.getText()} ${operator} ${right.getText()}` };
  }
}

function isText(node: ts.Expression): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

function negated(condition: ts.Expression): Mutation {
  return { kind: 'condition negated', replaced: condition, replacement: `!(${condition.getText()})` };
}

function constant(replaced: ts.Node, replacement: string): Mutation {
  return { kind: 'constant changed', replaced, replacement };
}

/** Whether a statement only logs or counts, which no test needs to notice. */
function saysOnly(node: ts.ExpressionStatement): boolean {
  return /\b(log|logger|metrics|counts)\b/.test(node.getText().slice(0, 60));
}
