"""The editor's server: a session as an editor has it, over standard input and output.

    python3 lsp_test.py PATH_OF_BURIN_LSP_SERVER
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import unittest

SERVER = ""
URI = "file:///tmp/policy.mlir"
RIGHT = """#time = #encoder.rows<"time", 8>
module @small {
  func.func @forward(%x: tensor<?x3xf32, #time> {encoder.name = "x"}) -> (tensor<?x3xf32, #time> {encoder.name = "y"}) {
    %y = encoder.relu %x : tensor<?x3xf32, #time>
    return %y : tensor<?x3xf32, #time>
  }
}
"""
WRONG = RIGHT.replace("    %y = encoder.relu %x", "    %W = encoder.parameter \"W\" init \"normal\" : tensor<4x3xf32>\n"
                      "    %d = encoder.dense %x, %W : tensor<?x3xf32, #time>, tensor<4x3xf32>\n    %y = encoder.relu %d")


class Editor:
    """The half of the protocol that an editor speaks."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def send(self, method: str, parameters: object, number: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": parameters}
        if number is not None:
            message["id"] = number
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def read(self) -> dict:
        if not select.select([self.process.stdout], [], [], 30)[0]:
            raise AssertionError("the server says nothing for 30 s")
        size = 0
        while (line := self.process.stdout.readline().strip()):
            name, _, value = line.partition(b":")
            size = int(value) if name == b"Content-Length" else size
        return json.loads(self.process.stdout.read(size))

    def diagnostics(self) -> list[dict]:
        while (message := self.read()).get("method") != "textDocument/publishDiagnostics":
            pass
        return message["params"]["diagnostics"]


class Server(unittest.TestCase):

    def setUp(self) -> None:
        self.editor = Editor()
        self.addCleanup(self.end)
        self.editor.send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 1)
        self.assertIn("hoverProvider", self.editor.read()["result"]["capabilities"])
        self.editor.send("initialized", {})

    def end(self) -> None:
        self.editor.process.kill()
        self.editor.process.wait()
        self.editor.process.stdin.close()
        self.editor.process.stdout.close()

    def open(self, text: str) -> list[dict]:
        self.editor.send("textDocument/didOpen",
                         {"textDocument": {"uri": URI, "languageId": "mlir", "version": 1, "text": text}})
        return self.editor.diagnostics()

    def test_a_graph_that_is_right_has_no_diagnostics(self) -> None:
        self.assertEqual(self.open(RIGHT), [])

    def test_a_wrong_operand_is_shown_at_its_line(self) -> None:
        found = self.open(WRONG)
        self.assertTrue(found, "no diagnostic")
        self.assertEqual(found[0]["range"]["start"]["line"], 4)
        self.assertRegex(found[0]["message"], "3.*4|4.*3")

    def test_hovering_an_op_says_what_it_is(self) -> None:
        self.open(RIGHT)
        self.editor.send("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 3, "character": 12}}, 2)
        self.assertIn("encoder.relu", json.dumps(self.editor.read()["result"]))

    def test_ends_when_asked(self) -> None:
        self.editor.send("shutdown", None, 3)
        self.editor.read()
        self.editor.send("exit", None)
        self.assertEqual(self.editor.process.wait(30), 0)


if __name__ == "__main__":
    SERVER = sys.argv.pop(1)
    unittest.main()
