"""Recall: what to ask for, how sure the evidence is, and what is too little to be brought up."""
