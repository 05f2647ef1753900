import ts from 'typescript';
import type { SourceFile } from './rule.ts';

/** The top-level statements of a source. */
export function statementsOf({ path, text }: SourceFile): readonly ts.Statement[] {
  return parse(path, text).statements;
}

/** Every node of a source, parents before children. */
export function* nodesOf({ path, text }: SourceFile): Generator<ts.Node> {
  const waiting: ts.Node[] = [parse(path, text)];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    const children: ts.Node[] = [];
    ts.forEachChild(node, (child) => {
      children.push(child);
    });
    waiting.push(...children.reverse());
  }
}

/** Whether a statement disappears when the types are stripped. */
export function isTypeOnly(statement: ts.Statement): boolean {
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) return true;
  if (ts.isExportDeclaration(statement)) return statement.isTypeOnly;
  return (
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword)
  );
}

/** Whether a statement only names literals, so that it needs no test. */
export function isTableOfConstants(statement: ts.Statement): boolean {
  if (!ts.isVariableStatement(statement)) return false;
  const { flags, declarations } = statement.declarationList;
  return (
    (flags & ts.NodeFlags.Const) !== 0 &&
    declarations.every(({ initializer }) => initializer !== undefined && isConstant(initializer))
  );
}

function isConstant(node: ts.Expression): boolean {
  if (ts.isLiteralExpression(node)) return true;
  if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) return true;
  if (node.kind === ts.SyntaxKind.NullKeyword) return true;
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) return isConstant(node.expression);
  if (ts.isPrefixUnaryExpression(node)) return isConstant(node.operand);
  if (ts.isBinaryExpression(node)) return isConstant(node.left) && isConstant(node.right);
  if (ts.isArrayLiteralExpression(node)) return node.elements.every(isConstant);
  if (!ts.isObjectLiteralExpression(node)) return false;
  return node.properties.every((property) => ts.isPropertyAssignment(property) && isConstant(property.initializer));
}

function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
}
