package server

import (
	"fmt"
	"reflect"

	"github.com/yuin/gopher-lua/ast"
)

// stepwise has each x = A and B, or A or B, of a program go by a local of its own: gopher-lua
// 1.1.2 leaves a local as it was that is given "not a and b", if a is true.
func stepwise(of any) { walk(reflect.ValueOf(of)) }

func walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem())
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			walk(field)
		}
	case reflect.Slice:
		for i := range v.Len() {
			part := v.Index(i)
			if stmt, isStmt := part.Interface().(*ast.AssignStmt); isStmt && logical(stmt) {
				part.Set(reflect.ValueOf(inSteps(stmt)))
			}
			walk(part)
		}
	}
}

func logical(stmt *ast.AssignStmt) bool {
	for _, value := range stmt.Rhs {
		if _, is := value.(*ast.LogicalOpExpr); is {
			return len(stmt.Lhs) == len(stmt.Rhs)
		}
	}
	return false
}

// inSteps is do local v1, ... = ...; x, ... = v1, ... end.
func inSteps(stmt *ast.AssignStmt) ast.Stmt {
	first, second := &ast.LocalAssignStmt{Exprs: stmt.Rhs}, &ast.AssignStmt{Lhs: stmt.Lhs}
	for i, value := range stmt.Rhs {
		name := &ast.IdentExpr{Value: fmt.Sprint("(v", i, ")")}
		name.SetLine(value.Line())
		first.Names, second.Rhs = append(first.Names, name.Value), append(second.Rhs, name)
	}
	all := &ast.DoBlockStmt{Stmts: []ast.Stmt{first, second}}
	for _, s := range []ast.Stmt{first, second, all} {
		s.SetLine(stmt.Line())
		s.SetLastLine(stmt.LastLine())
	}
	return all
}
