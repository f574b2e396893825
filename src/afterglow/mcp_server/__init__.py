"""The MCP door: memory as tools, resources and prompts for the programs that people talk to their agents with.

Whoever comes through it is an agent, whatever it says of itself: what it writes as a user is another human's word at best,
it approves nothing, and it sees the memory of one owner. All that it reads is marked as recalled (recalled.py), so that what
comes back in a turn is not remembered twice, and it is said to be a record and not an instruction.

caller.py says whose memory it is; tools.py, resources.py and prompts.py say what there is, in Afterglow's own records;
server.py alone speaks to the SDK; stdio.py and http.py carry it.
"""
